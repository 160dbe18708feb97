package abi1

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/rosa"
)

// FuzzDamage writes into arrays in which a stream lies, before they are bound or after it:
// there may be an error, but no panic, no endless loop, and nothing outside of the arrays.
func FuzzDamage(f *testing.F) {
	f.Add([]byte("abcabcab"), []byte{0, 1, 2}, true)
	f.Add([]byte("aaaaaaaa"), []byte{10, 0, 200, 11, 3, 0}, false)
	f.Add([]byte("abab"), []byte{12, 2, 2, 9, 1, 3, 13, 0, 255}, false)
	f.Fuzz(func(t *testing.T, stream, damage []byte, before bool) {
		if len(stream) > 30 {
			return
		}
		a, c := empty(1, 40, false), emptyCandidates(1, 40, 3, 2, false)
		s, err := Bind(a)
		require.NoError(t, err)
		sc, err := BindCandidates(c)
		require.NoError(t, err)
		next := make([]int64, 1)
		for _, token := range stream {
			require.NoError(t, s.Step(next, []int64{int64(token)}))
			require.NoError(t, sc.Step(dirty(1, 6), []int64{int64(token)}))
		}
		for ; len(damage) >= 3; damage = damage[3:] {
			which, at, value := int(damage[0]), int(damage[1]), int64(int8(damage[2]))
			for _, arrays := range [][]named{a.arrays(), c.arrays()} {
				switch array := arrays[which%len(arrays)].array.(type) {
				case *Array[int32]:
					array.Data[at%len(array.Data)] = int32(value)
				case *Array[int64]:
					array.Data[at%len(array.Data)] = value
				case *Array[uint8]:
					array.Data[at%len(array.Data)] = uint8(value)
				}
			}
		}
		if before {
			if s, err = Bind(a); err != nil {
				require.Nil(t, s)
			}
			if sc, err = BindCandidates(c); err != nil {
				require.Nil(t, sc)
			}
		}
		allowed := func(err error) {
			if err != nil && !errors.Is(err, rosa.ErrBroken) && !errors.Is(err, ErrCounters) && !errors.Is(err, rosa.ErrFull) {
				t.Fatal(err)
			}
		}
		for token := range int64(5) {
			if s != nil {
				allowed(s.Step(next, []int64{'a' + token%3}))
			}
			if sc != nil {
				allowed(sc.Step(dirty(1, 6), []int64{'a' + token%3}))
			}
		}
		if s != nil {
			allowed(s.Reset())
		}
		if sc != nil {
			allowed(sc.Reset())
		}
	})
}
