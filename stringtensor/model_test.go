package stringtensor

import (
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The model of a column is a list of strings in which nil is a null row. It
// knows nothing of views, buffers and bitmaps.
type model []*string

func (m model) get(i int) (string, bool) {
	if m[i] == nil {
		return "", false
	}
	return *m[i], true
}

func (m model) take(rows []uint32) model {
	out := model{}
	for _, r := range rows {
		out = append(out, m[r])
	}
	return out
}

// where lists the rows that are not null and for which keep holds.
func (m model) where(keep func(string) bool) Selection {
	var s Selection
	for i, p := range m {
		if p != nil && keep(*p) {
			s = append(s, uint32(i))
		}
	}
	return s
}

func modelOf(rows ...string) model {
	m := model{}
	for i := range rows {
		m = append(m, &rows[i])
	}
	return m
}

// build makes the column of m with buffers of at most limit bytes.
func (m model) build(t require.TestingT, limit int) *Column {
	b := NewBuilder(WithMaxBuffer(limit))
	for _, p := range m {
		if p == nil {
			b.AppendNull()
		} else {
			require.NoError(t, b.AppendString(*p))
		}
	}
	return b.Finish()
}

func requireRows(t require.TestingT, want model, c *Column) {
	require.NoError(t, c.Validate())
	require.Equal(t, len(want), c.Len())
	nulls := 0
	for i := range want {
		s, ok := want.get(i)
		if !ok {
			nulls++
		}
		require.Equal(t, !ok, c.IsNull(i), "row %d", i)
		require.Equal(t, s, c.At(i), "row %d", i)
	}
	require.Equal(t, nulls, c.NullCount())
}

// requireSelection compares selections as sets of rows: nil and empty are one.
func requireSelection(t require.TestingT, want, got Selection) {
	require.Equal(t, append([]uint32{}, want...), append([]uint32{}, got...))
}

// textGen draws strings that share prefixes, straddle the border of 12 and 13
// bytes, hold NUL, which padding must not be taken for, and characters of several
// bytes.
func textGen() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		head := rapid.SampledFrom([]string{"", "", "ab", "abcd", "abcdefghijk", "abcdefghijkl", "abcdefghijklmnop"}).Draw(t, "head")
		tail := rapid.StringOfN(rapid.SampledFrom([]rune{'a', 'b', 0, 'é', '日', '𝄞'}), 0, 5, -1).Draw(t, "tail")
		return head + tail
	})
}

func modelGen() *rapid.Generator[model] {
	return rapid.Custom(func(t *rapid.T) model {
		nulls := rapid.SampledFrom([]int{0, 3, 10}).Draw(t, "nulls out of ten")
		rows := rapid.SliceOfN(textGen(), 0, 80).Draw(t, "rows")
		m := modelOf(rows...)
		for i := range m {
			if rapid.IntRange(0, 9).Draw(t, "null") < nulls {
				m[i] = nil
			}
		}
		return m
	})
}

func rowsGen(n int) *rapid.Generator[[]uint32] {
	if n == 0 {
		return rapid.Just([]uint32{})
	}
	return rapid.SliceOfN(rapid.Uint32Range(0, uint32(n-1)), 0, 60)
}

// offsetsOf lays m out as offsets and payload with junk around and under nulls.
func offsetsOf(t *rapid.T, m model) (offsets []uint32, payload, valid []byte) {
	payload = []byte(rapid.SampledFrom([]string{"", "junk"}).Draw(t, "before"))
	offsets = append(offsets, uint32(len(payload)))
	bits := newBitmap(len(m))
	for i := range m {
		s, ok := m.get(i)
		if ok {
			bits.set(i)
		} else {
			s = rapid.SampledFrom([]string{"", "\xff", "not of any row \xfe"}).Draw(t, "under null")
		}
		payload = append(payload, s...)
		offsets = append(offsets, uint32(len(payload)))
	}
	return offsets, append(payload, "after"...), bits.bits
}

// drawColumn draws a column and its model, by a way of making and up to three
// operations on it, so that the column has the layouts that occur: shifted
// bitmaps, shared and partly used buffers, rows out of payload order.
func drawColumn(t *rapid.T) (*Column, model) {
	m := modelGen().Draw(t, "model")
	limit := rapid.SampledFrom([]int{MaxStringLen, 30, 60}).Draw(t, "limit")
	var c *Column
	if rapid.Bool().Draw(t, "from offsets") {
		offsets, payload, valid := offsetsOf(t, m)
		var err error
		c, err = FromOffsets(offsets, payload, WithValidity(valid, 0), WithMaxBuffer(max(limit, 40)))
		require.NoError(t, err)
	} else {
		c = m.build(t, max(limit, 40))
	}
	for range rapid.IntRange(0, 3).Draw(t, "operations") {
		var err error
		switch rapid.IntRange(0, 3).Draw(t, "operation") {
		case 0:
			lo := rapid.IntRange(0, len(m)).Draw(t, "lo")
			hi := rapid.IntRange(lo, len(m)).Draw(t, "hi")
			c, err = c.Slice(lo, hi)
			m = m[lo:hi]
		case 1:
			rows := rowsGen(len(m)).Draw(t, "rows")
			c, err = c.Take(rows)
			m = m.take(rows)
		case 2:
			other := modelGen().Draw(t, "other")
			c, err = Concat(c, other.build(t, 50), c)
			m = append(append(append(model{}, m...), other...), m...)
		case 3:
			c = c.Compact(WithMaxBuffer(limit))
		}
		require.NoError(t, err)
	}
	return c, m
}

// acrossBuffers returns two rows that would lie end to end if their buffers were
// one.
func acrossBuffers() (*Column, model) {
	const a, b = "the first row", "and the other"
	return newColumn([]StringView16{pooledView([]byte(a), 0, 0), pooledView([]byte(b), 1, 13)},
		[]*Buffer{NewBuffer([]byte(a+"something els"), nil), NewBuffer([]byte("something els"+b), nil)}, bitmap{}, 0), modelOf(a, b)
}
