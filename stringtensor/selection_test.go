package stringtensor

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestSelectionsAgreeWithSets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 150).Draw(t, "n")
		a := rapid.SliceOfN(rapid.Bool(), n, n).Draw(t, "a")
		b := rapid.SliceOfN(rapid.Bool(), n, n).Draw(t, "b")
		rows := func(keep func(i int) bool) Selection {
			var s Selection
			for i := range n {
				if keep(i) {
					s = append(s, uint32(i))
				}
			}
			return s
		}
		sa, sb := SelectMask(a), SelectMask(b)
		require.NoError(t, sa.Validate(n))
		requireSelection(t, rows(func(i int) bool { return a[i] }), sa)
		requireSelection(t, rows(func(i int) bool { return a[i] && b[i] }), sa.And(sb))
		requireSelection(t, rows(func(i int) bool { return a[i] || b[i] }), sa.Or(sb))
		requireSelection(t, rows(func(i int) bool { return a[i] && !b[i] }), sa.AndNot(sb))
		requireSelection(t, rows(func(i int) bool { return !a[i] }), sa.Not(n))
		m := rapid.IntRange(0, n).Draw(t, "fewer rows")
		requireSelection(t, rows(func(i int) bool { return i < m && !a[i] }), sa.Not(m))
		for i := range n {
			require.Equal(t, a[i], sa.Contains(uint32(i)))
		}

		packed := newBitmap(n)
		for i := range n {
			if a[i] {
				packed.set(i)
			}
		}
		requireSelection(t, sa, SelectBits(packed.bits, n))

		// Over the operand's own memory, where that is allowed.
		inPlace := append(Selection(nil), sa...)
		requireSelection(t, sa.And(sb), inPlace.AndInto(inPlace, sb))
		inPlace = append(Selection(nil), sb...)
		requireSelection(t, sa.And(sb), sa.AndInto(inPlace, inPlace))
		inPlace = append(Selection(nil), sa...)
		requireSelection(t, sa.AndNot(sb), inPlace.AndNotInto(inPlace, sb))
	})
}

func TestSelectionValidate(t *testing.T) {
	require.NoError(t, Selection(nil).Validate(0))
	require.NoError(t, Selection{0, 3, 9}.Validate(10))
	require.ErrorIs(t, Selection{0}.Validate(0), ErrOutOfRange)
	require.ErrorIs(t, Selection{0, 1<<32 - 1}.Validate(10), ErrOutOfRange)
	for _, s := range []Selection{{1, 1}, {0, 2, 1}} {
		require.ErrorIs(t, s.Validate(10), ErrInvalid)
	}
}

func TestSelectBitsNeedsThemAll(t *testing.T) {
	require.Empty(t, SelectBits(nil, 0))
	require.Equal(t, Selection{0, 7}, SelectBits([]byte{0x81}, 8))
	for _, n := range []int{9, 64, 65, 1000} {
		require.Panics(t, func() { SelectBits([]byte{0x81}, n) }, n)
	}
}

func TestNoRowIsBelowANegativeNumber(t *testing.T) {
	require.Empty(t, Selection{5}.Not(-1))
	require.ErrorIs(t, Selection{5}.Validate(-1), ErrOutOfRange)
}
