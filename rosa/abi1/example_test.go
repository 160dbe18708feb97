package abi1_test

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/rosaline-go/rosaline/rosa/abi1"
)

// array returns an array of rows that holds a value everywhere.
func array[T int32 | int64 | uint8](value T, shape ...int) abi1.Array[T] {
	n := 1
	for _, s := range shape {
		n *= s
	}
	return abi1.Array[T]{Data: slices.Repeat([]T{value}, n), Shape: shape}
}

func ExampleBind() {
	const b, n, s, e = 1, 8, 2*8 + 1, 4*8 + 1
	h := 1 << bits.Len(2*e-1)
	a := &abi1.Arrays{
		Automaton: abi1.Automaton{
			Version: 1, BatchSize: b, MaxLength: n, Position: new(int64),
			History: array[int64](0, b, n), Head: array[int32](-1, b, s),
			EdgeToken: array[int64](0, b, e), EdgeTarget: array[int32](0, b, e), EdgeNext: array[int32](0, b, e),
			HashState: array[int32](-1, b, h), HashToken: array[int64](0, b, h), HashEdge: array[int32](0, b, h),
			SuffixLink: array[int32](-1, b, s), Length: array[int32](0, b, s),
			LCTLeft: array[int32](-1, b, s), LCTRight: array[int32](-1, b, s), LCTParent: array[int32](-1, b, s),
			LCTStack: array[int32](0, b, s),
			Last:     array[int32](0, b), Size: array[int32](1, b), EdgeCount: array[int32](0, b),
		},
		LCTValue: array[int64](-1, b, s), LCTLazy: array[int64](0, b, s), LCTLazyValid: array[uint8](0, b, s),
	}
	state, err := abi1.Bind(a)
	if err != nil {
		panic(err)
	}
	defer state.Close()
	next := make([]int64, 5)
	if err := state.Prefill(next, []int64{7, 8, 9, 7, 8}); err != nil {
		panic(err)
	}
	fmt.Println(next, *a.Position, a.Size.Data)
	// Output: [-1 -1 -1 8 9] 5 [6]
}
