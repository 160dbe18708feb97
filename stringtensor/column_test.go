package stringtensor

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestColumnAgreesWithModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, m := drawColumn(t)
		requireRows(t, m, c)
		strs := c.Strings()
		n := 0
		for i, s := range c.All() {
			want, _ := m.get(i)
			require.Equal(t, n, i)
			require.Equal(t, want, s)
			require.Equal(t, want, strs[i])
			n++
		}
		require.Equal(t, len(m), n)

		bits := c.Validity()
		if c.NullCount() == 0 {
			require.Nil(t, bits)
			return
		}
		require.Len(t, bits, (len(m)+7)/8)
		for i := range len(bits) * 8 {
			require.Equal(t, i < len(m) && m[i] != nil, bits[i/8]>>(i%8)&1 == 1, "bit %d", i)
		}
	})
}

func TestColumnZeroValue(t *testing.T) {
	var c Column
	requireRows(t, model{}, &c)
	require.Zero(t, c.RetainedBytes())
	offsets, payload, err := c.GPUBuffers()
	require.NoError(t, err)
	require.Equal(t, []uint32{0}, offsets)
	require.Empty(t, payload)
	c.Release()
}

func TestSliceOutOfRange(t *testing.T) {
	c := modelOf("a", "b").build(t, MaxStringLen)
	for _, x := range [][2]int{{-1, 1}, {0, 3}, {2, 1}, {3, 3}} {
		_, err := c.Slice(x[0], x[1])
		require.ErrorIs(t, err, ErrOutOfRange)
	}
}

func TestIterationStops(t *testing.T) {
	c := modelOf("a", "b", "c").build(t, MaxStringLen)
	for i := range c.All() {
		require.Less(t, i, 2)
		if i == 1 {
			break
		}
	}
}

func TestReadingAllocatesNothing(t *testing.T) {
	c := modelOf("inline", "longer than twelve bytes").build(t, MaxStringLen)
	n := 0
	require.Zero(t, testing.AllocsPerRun(100, func() {
		for i := range c.Len() {
			n += len(c.At(i)) + len(c.Bytes(i)) + c.View(i).Len()
		}
	}))
	require.NotZero(t, n)
}
