package sample_test

import (
	"fmt"

	"github.com/rosaline-go/rosaline/pipeline/sample"
)

// Make samples, make a batch of them, and read it.
func Example() {
	var items []sample.Sample
	for i := range 3 {
		x, err := sample.NewTensor([]float32{float32(i), 0, 1, float32(i)}, 2, 2)
		if err != nil {
			fmt.Println(err)
			return
		}
		s := sample.New(
			sample.Field{Name: "x", Tensor: x},
			sample.Field{Name: "label", Tensor: sample.Scalar(int64(10 * i))},
		)
		items = append(items, s.WithMeta(sample.Meta{Source: "made up", Index: int64(i)}))
	}
	batch, err := sample.DefaultCollate(items)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(batch)
	label, _ := batch.Get("label")
	values, err := sample.View[int64](label)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(values, batch.Metas()[2])
	// Output:
	// {x: f32[3 2 2], label: i64[3]}
	// [0 10 20] {made up 2 false}
}

// A sample that does not fit is named, even as the first.
func ExampleDefaultCollate() {
	row := func(values ...int32) sample.Sample {
		return sample.New(sample.Field{Name: "tokens", Tensor: sample.Vector(values)})
	}
	_, err := sample.DefaultCollate([]sample.Sample{row(1, 2, 3), row(4, 5), row(6, 7)})
	fmt.Println(err)
	// Output:
	// item 0 of the batch: sample: collate: field "tokens" is i32[3], most others have i32[2]; filter, crop, or use PaddedCollate or RaggedCollate
}

// Pad lists of tokens to a multiple of 4.
func ExamplePaddedCollate() {
	row := func(values ...int32) sample.Sample {
		return sample.New(sample.Field{Name: "tokens", Tensor: sample.Vector(values)})
	}
	collate, err := sample.PaddedCollate(sample.WithMultipleOf(4), sample.WithPadValue(-1))
	if err != nil {
		fmt.Println(err)
		return
	}
	batch, err := collate([]sample.Sample{row(1, 2, 3), row(4)})
	if err != nil {
		fmt.Println(err)
		return
	}
	for name, t := range batch.All() {
		switch t.DType() {
		case sample.I32:
			v, _ := sample.View[int32](t)
			fmt.Println(name, t, v)
		case sample.I64:
			v, _ := sample.View[int64](t)
			fmt.Println(name, t, v)
		}
	}
	// Output:
	// tokens i32[2 4] [1 2 3 -1 4 -1 -1 -1]
	// tokens_length i64[2] [3 1]
}

// Keep lists of tokens end to end.
func ExampleRaggedCollate() {
	row := func(values ...int32) sample.Sample {
		return sample.New(sample.Field{Name: "tokens", Tensor: sample.Vector(values)})
	}
	collate, err := sample.RaggedCollate()
	if err != nil {
		fmt.Println(err)
		return
	}
	batch, err := collate([]sample.Sample{row(1, 2, 3), row(), row(4)})
	if err != nil {
		fmt.Println(err)
		return
	}
	tokens, _ := batch.Get("tokens")
	offsets, _ := batch.Get("tokens_offsets")
	values, _ := sample.View[int32](tokens)
	at, _ := sample.View[uint32](offsets)
	fmt.Println(values, at)
	// Output:
	// [1 2 3 4] [0 3 3 4]
}
