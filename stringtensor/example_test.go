package stringtensor_test

import (
	"fmt"
	"slices"

	"github.com/rosaline-go/rosaline/stringtensor"
)

func Example() {
	c, err := stringtensor.FromStrings([]string{
		"a short row", "the quick brown fox", "the lazy dog", "the quick brown cat",
	})
	if err != nil {
		panic(err)
	}
	quick := c.WherePrefix("the ").And(c.WhereContains("quick"))
	kept, err := c.Filter(quick)
	if err != nil {
		panic(err)
	}
	for i, s := range kept.All() {
		fmt.Println(i, s)
	}
	// Output:
	// 0 the quick brown fox
	// 1 the quick brown cat
}

func ExampleBuilder() {
	b := stringtensor.NewBuilder()
	for _, s := range []string{"a", "", "longer than twelve bytes"} {
		if err := b.AppendString(s); err != nil {
			panic(err)
		}
	}
	b.AppendNull()
	c := b.Finish()
	fmt.Println(c.Len(), c.NullCount(), c.InlinedCount(), c.PooledCount())
	fmt.Printf("%q %v, %q %v\n", c.At(1), c.IsNull(1), c.At(3), c.IsNull(3))
	// Output:
	// 4 1 2 1
	// "" false, "" true
}

func ExampleColumn_GPUBuffers() {
	c, err := stringtensor.FromStrings([]string{"to", "", "the device"})
	if err != nil {
		panic(err)
	}
	offsets, payload, err := c.GPUBuffers()
	if err != nil {
		panic(err)
	}
	fmt.Println(offsets, string(payload))
	// Output: [0 2 2 12] tothe device
}

func ExampleFromGPUBuffers() {
	c, err := stringtensor.FromGPUBuffers([]uint32{0, 2, 2, 12}, []byte("tothe device"))
	if err != nil {
		panic(err)
	}
	fmt.Printf("%q\n", c.Strings())

	_, err = stringtensor.FromGPUBuffers([]uint32{0, 1, 2}, []byte("é"))
	fmt.Println(err)
	// Output:
	// ["to" "" "the device"]
	// stringtensor: invalid UTF-8: row 0, byte 0 of it (offset 0 is 0)
}

func ExampleColumn_Split() {
	c, err := stringtensor.FromStrings([]string{"four", "five5", "six", "seven77"})
	if err != nil {
		panic(err)
	}
	parts, err := c.Split(9)
	if err != nil {
		panic(err)
	}
	for _, p := range parts {
		fmt.Println(p.Strings(), p.PayloadBytes())
	}
	// Output:
	// [four five5] 9
	// [six] 3
	// [seven77] 7
}

func ExampleColumn_Compare() {
	c, err := stringtensor.FromStrings([]string{"pear", "apple", "fig", "apple pie with cream"})
	if err != nil {
		panic(err)
	}
	rows := []uint32{0, 1, 2, 3}
	slices.SortFunc(rows, func(i, j uint32) int { return c.Compare(int(i), c, int(j)) })
	sorted, err := c.Take(rows)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%q\n", sorted.Strings())
	// Output: ["apple" "apple pie with cream" "fig" "pear"]
}

func ExampleColumn_Compact() {
	payload := make([]byte, 1<<20)
	copy(payload, "a row of more than twelve bytes")
	c, err := stringtensor.FromOffsets([]int64{0, 31, 1 << 20}, payload)
	if err != nil {
		panic(err)
	}
	first, err := c.Slice(0, 1)
	if err != nil {
		panic(err)
	}
	small := first.Compact(stringtensor.WithUseBelow(0.5))
	fmt.Println(first.RetainedBytes() > 1<<20, small.RetainedBytes() < 200, small.At(0))
	// Output: true true a row of more than twelve bytes
}

func ExampleNewSet() {
	c, err := stringtensor.FromStrings([]string{"b", "a", "d", "c", "a"})
	if err != nil {
		panic(err)
	}
	fmt.Println(c.WhereIn(stringtensor.NewSet("a", "b")))
	// Output: [0 1 4]
}
