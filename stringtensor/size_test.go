package stringtensor

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestSizesAgreeWithModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, m := drawColumn(t)
		payload, inlined, pooled := 0, 0, 0
		lengths := make([]uint32, 0, len(m))
		for i := range m {
			s, ok := m.get(i)
			lengths = append(lengths, uint32(len(s)))
			payload += len(s)
			switch {
			case len(s) > 12:
				pooled++
			case ok:
				inlined++
			}
		}
		require.Equal(t, int64(payload), c.PayloadBytes())
		require.Equal(t, inlined, c.InlinedCount())
		require.Equal(t, pooled, c.PooledCount())
		require.Equal(t, lengths, append([]uint32{}, c.Lengths()...))
	})
}

func TestRetainedBytes(t *testing.T) {
	c, err := FromStrings([]string{"longer than twelve bytes", "short", "", "x"})
	require.NoError(t, err)
	require.Equal(t, int64(4*ViewSize+24+Slack), c.RetainedBytes())

	// A slice keeps the views it was cut from.
	part, err := c.Slice(1, 2)
	require.NoError(t, err)
	require.Equal(t, c.RetainedBytes(), part.RetainedBytes())

	// Taken rows have views of their own.
	taken, err := part.Take([]uint32{0, 0})
	require.NoError(t, err)
	require.Equal(t, int64(2*ViewSize), taken.RetainedBytes())
	taken, err = c.Take([]uint32{0})
	require.NoError(t, err)
	require.Equal(t, int64(ViewSize+24+Slack), taken.RetainedBytes())

	// A buffer that is listed twice is there once.
	double := newColumn(nil, append(c.Buffers(), c.Buffers()...), bitmap{}, 0)
	require.Equal(t, int64(24+Slack), double.RetainedBytes())

	nulls := newColumn(make([]StringView16, 9), nil, newBitmap(9), 9)
	require.Equal(t, int64(9*ViewSize+2), nulls.RetainedBytes())
}
