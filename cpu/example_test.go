package cpu_test

import (
	"fmt"
	"math/bits"

	"github.com/rosaline-go/rosaline/cpu"
)

// inline returns the view of a string of up to 12 bytes.
func inline(s string) (v cpu.View) {
	v[0] = uint64(len(s))
	for i, c := range []byte(s) {
		v[(i+4)/8] |= uint64(c) << ((i + 4) % 8 * 8)
	}
	return v
}

// Which strings begin with "ro": a mask, and from it their places.
func Example() {
	views := []cpu.View{inline("rosa"), inline("lily"), inline("rook"), inline("r"), inline("ro")}
	mask := make([]uint64, 1)
	cpu.MatchViews(mask, views, ('r'|'o'<<8)<<32, 0xffff<<32)
	places := make([]uint32, len(views))
	n := cpu.SelectOnes(places, mask, 0)
	fmt.Println(places[:n])
	// Output: [0 2 4]
}

func ExampleGather() {
	// Two strings in their views, and between them one of 14 bytes at 1 of buffer 0.
	views := []cpu.View{inline("hi"), {14 | ('o'|'u'<<8|'t'<<16|' '<<24)<<32, 0 | 1<<32}, inline("!")}
	dst, ends := make([]byte, 17), make([]uint32, 3)
	n := cpu.Gather(dst, ends, views, [][]byte{[]byte("-out of a buffer-")})
	fmt.Printf("%q %d\n", dst[:n], ends)
	// Output: "hiout of a buffe!" [2 16 17]
}

// Words begin where a byte is no space and the one before it is.
func ExampleClassify() {
	s := []byte("three short words")
	var blocks [1]cpu.Block
	cpu.Classify(blocks[:], s)
	words := ^blocks[0].Space & (blocks[0].Space<<1 | 1) & (1<<len(s) - 1)
	fmt.Println(bits.OnesCount64(words))
	// Output: 3
}

func ExampleIndexAny() {
	special := cpu.NewByteSet('"', '\\')
	s := []byte(`a JSON string, up to its quote", and more`)
	fmt.Printf("%s\n", s[:cpu.IndexAny(s, special)])
	// Output: a JSON string, up to its quote
}
