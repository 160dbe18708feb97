package stringtensor

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestTakeAndFilterAgreeWithModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, m := drawColumn(t)
		rows := rowsGen(len(m)).Draw(t, "rows")
		got, err := c.Take(rows)
		require.NoError(t, err)
		requireRows(t, m.take(rows), got)

		mask := rapid.SliceOfN(rapid.Bool(), len(m), len(m)).Draw(t, "mask")
		want, packed := model{}, newBitmap(len(m)+9)
		for i, keep := range mask {
			if keep {
				want = append(want, m[i])
				packed.set(i)
			}
		}
		packed.set(len(m)) // bits after the last row count for nothing
		got, err = c.FilterMask(mask)
		require.NoError(t, err)
		requireRows(t, want, got)
		got, err = c.FilterBits(packed.bits)
		require.NoError(t, err)
		requireRows(t, want, got)
		got, err = c.Filter(SelectMask(mask))
		require.NoError(t, err)
		requireRows(t, want, got)
	})
}

func TestTakeErrors(t *testing.T) {
	c := modelOf("a", "b").build(t, MaxStringLen)
	_, err := c.Take([]uint32{1, 0, 2})
	require.ErrorIs(t, err, ErrOutOfRange)
	require.ErrorContains(t, err, "entry 2 of the rows to take is 2, the column has 2")

	_, err = c.Filter(Selection{0, 2})
	require.ErrorIs(t, err, ErrOutOfRange)
	_, err = c.Filter(Selection{1, 0})
	require.ErrorIs(t, err, ErrInvalid)
	_, err = c.Filter(Selection{1, 1})
	require.ErrorIs(t, err, ErrInvalid)
	_, err = c.FilterMask(make([]bool, 1))
	require.ErrorIs(t, err, ErrLengthMismatch)
	_, err = c.FilterBits(nil)
	require.ErrorIs(t, err, ErrLengthMismatch)
}

func TestFilterSharesPayload(t *testing.T) {
	c := modelOf("a row of more than twelve bytes", "x", "another row, as long as the first").build(t, MaxStringLen)
	d := c.FilterByPrefix("a")
	requireRows(t, modelOf("a row of more than twelve bytes", "another row, as long as the first"), d)
	require.Same(t, &c.Bytes(2)[0], &d.Bytes(1)[0])
}
