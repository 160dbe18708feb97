package stringtensor

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestConcatAgreesWithModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var columns []*Column
		var want model
		for range rapid.IntRange(0, 4).Draw(t, "columns") {
			c, m := drawColumn(t)
			columns, want = append(columns, c), append(want, m...)
		}
		c, err := Concat(columns...)
		require.NoError(t, err)
		requireRows(t, want, c)
	})
}

// Buffers are not multiplied, however often a column comes.
func TestConcatOfManySlices(t *testing.T) {
	var rows []string
	for i := range 100 {
		rows = append(rows, fmt.Sprintf("row %3d of more than twelve bytes", i))
	}
	c := modelOf(rows...).build(t, 1000)
	require.Len(t, c.Buffers(), 4)
	var parts []*Column
	var want []string
	for i := range 1000 {
		p, err := c.Slice(i%100, i%100+1)
		require.NoError(t, err)
		parts, want = append(parts, p), append(want, rows[i%100])
	}
	joined, err := Concat(parts...)
	require.NoError(t, err)
	requireRows(t, modelOf(want...), joined)
	require.Len(t, joined.Buffers(), 4)
	require.Equal(t, c.bufferBytes()+1000*ViewSize, joined.RetainedBytes())

	// Only buffers in use come along.
	some, err := Concat(parts[:20]...)
	require.NoError(t, err)
	require.Len(t, some.Buffers(), 1)
}

// Two buffers over the same memory are one.
func TestConcatKnowsMemory(t *testing.T) {
	payload := []byte("more than twelve bytes")
	var parts []*Column
	for range 10 {
		c, err := FromOffsets([]uint32{0, 22}, payload)
		require.NoError(t, err)
		parts = append(parts, c)
	}
	c, err := Concat(parts...)
	require.NoError(t, err)
	require.Len(t, c.Buffers(), 1)
}

func TestConcatTooManyRows(t *testing.T) {
	c := &Column{views: make([]StringView16, 1<<20)}
	columns := make([]*Column, 1<<12)
	for i := range columns {
		columns[i] = c
	}
	_, err := Concat(columns...)
	require.ErrorIs(t, err, ErrTooManyRows)
}

// n slices of a column with n buffers: work per slice must not depend on the
// number of buffers. What a list of places for each slice would cost shows in the
// bytes allocated, which no load on the machine changes.
func TestConcatIsLinear(t *testing.T) {
	allocated := func(n int) uint64 {
		b := NewBuilder(WithMaxBuffer(13))
		for range n {
			require.NoError(t, b.AppendString("thirteen byte"))
		}
		c := b.Finish()
		require.Len(t, c.Buffers(), n)
		parts := make([]*Column, n)
		for i := range parts {
			p, err := c.Slice(i, i+1)
			require.NoError(t, err)
			parts[i] = p
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		joined, err := Concat(parts...)
		runtime.ReadMemStats(&after)
		require.NoError(t, err)
		require.True(t, joined.Equal(c))
		return after.TotalAlloc - before.TotalAlloc
	}
	require.Less(t, allocated(4000), 3*allocated(2000))
}
