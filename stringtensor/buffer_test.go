package stringtensor

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/rosaline-go/rosaline/internal/lineartime"
)

// borrowed returns c over borrowed copies of its buffers and counts, per buffer, how
// often it is given back.
func (c *Column) borrowed() (*Column, []*int) {
	var counts []*int
	var buffers []*Buffer
	for _, b := range c.buffers {
		n := new(int)
		counts = append(counts, n)
		buffers = append(buffers, NewBuffer(append([]byte(nil), b.data...), func() { *n++ }))
	}
	d := newColumn(c.views, buffers, c.valid, c.nulls)
	for _, b := range buffers {
		b.Release()
	}
	return d, counts
}

// Columns are derived from others and released in any order. A buffer that was
// given back too early loses its bytes, so reading a row of a living column would
// fail; one that is kept too long, or given back twice, shows in its count.
func TestBorrowedBuffersAreReleasedOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var counts []*int
		var living []*Column
		var models []model
		add := func(c *Column, m model) {
			living, models = append(living, c), append(models, m)
			requireRows(t, m, c)
		}
		pick := func() int { return rapid.IntRange(0, len(living)-1).Draw(t, "column") }
		for range 2 {
			m := modelGen().Draw(t, "model")
			c, n := m.build(t, 40).borrowed()
			counts = append(counts, n...)
			add(c, m)
		}
		for range rapid.IntRange(0, 12).Draw(t, "operations") {
			i := pick()
			c, m := living[i], models[i]
			switch rapid.IntRange(0, 6).Draw(t, "operation") {
			case 0:
				lo := rapid.IntRange(0, len(m)).Draw(t, "lo")
				hi := rapid.IntRange(lo, len(m)).Draw(t, "hi")
				d, err := c.Slice(lo, hi)
				require.NoError(t, err)
				add(d, m[lo:hi])
			case 1:
				rows := rowsGen(len(m)).Draw(t, "rows")
				d, err := c.Take(rows)
				require.NoError(t, err)
				add(d, m.take(rows))
			case 2:
				j := pick()
				d, err := Concat(c, living[j])
				require.NoError(t, err)
				add(d, append(append(model{}, m...), models[j]...))
			case 3:
				share := rapid.SampledFrom([]float64{0, 0.5, 1}).Draw(t, "share")
				add(c.Compact(WithUseBelow(share)), m)
			case 4:
				parts, err := c.Split(64)
				require.NoError(t, err)
				at := 0
				for _, p := range parts {
					requireRows(t, m[at:at+p.Len()], p)
					at += p.Len()
					p.Release()
				}
				require.Equal(t, len(m), at)
			default:
				if borrows := len(c.held) > 0; borrows {
					c.Release()
					require.Zero(t, c.Len())
				}
				c.Release()
				living, models = append(living[:i:i], living[i+1:]...), append(models[:i:i], models[i+1:]...)
				if len(living) == 0 {
					add(modelOf("x").build(t, 40), modelOf("x"))
				}
			}
			for k := range living {
				requireRows(t, models[k], living[k])
			}
		}
		for _, c := range living {
			c.Release()
		}
		for i, n := range counts {
			require.Equal(t, 1, *n, "buffer %d", i)
		}
	})
}

func TestResultWithoutLongRowsKeepsNothing(t *testing.T) {
	const long = "longer than twelve bytes"
	c, counts := modelOf("short", long).build(t, MaxStringLen).borrowed()
	short, err := c.Take([]uint32{0})
	require.NoError(t, err)
	joined, err := Concat(short, short)
	require.NoError(t, err)
	c.Release()
	require.Equal(t, 1, *counts[0])
	requireRows(t, modelOf("short", "short"), joined)
	require.Empty(t, short.Buffers())
}

// Columns with views of their own keep payload, not the views and the validity
// they were made from.
func TestDerivedColumnsKeepPayloadOnly(t *testing.T) {
	m := append(modelOf("x", "longer than twelve bytes"), nil)
	src := m.build(t, MaxStringLen)
	payload, views := 0, 0
	buffer := NewBuffer(src.buffers[0].data, func() { payload++ })
	owner := NewBuffer(nil, func() { views++ })
	c := newColumn(src.views, []*Buffer{buffer}, src.valid, src.nulls, owner)
	buffer.Release()
	owner.Release()

	part, err := c.Slice(1, 2)
	require.NoError(t, err)
	taken, err := c.Take([]uint32{2, 1})
	require.NoError(t, err)
	joined, err := Concat(c, c)
	require.NoError(t, err)
	c.Release()
	require.Zero(t, views, "the slice has the views of its source")
	part.Release()
	require.Equal(t, 1, views)
	requireRows(t, m.take([]uint32{2, 1}), taken)
	taken.Release()
	require.Zero(t, payload)
	requireRows(t, append(append(model{}, m...), m...), joined)
	joined.Release()
	require.Equal(t, 1, payload)
}

func TestCompactLetsGo(t *testing.T) {
	m := modelOf("the first row, which is long", "the second row, which is long too")
	c, counts := m.build(t, MaxStringLen).borrowed()
	d := c.Compact()
	c.Release()
	require.Equal(t, 1, *counts[0])
	requireRows(t, m, d)
}

// Many borrowed buffers must not make each derived column quadratic.
func TestManyClaimsAreLinear(t *testing.T) {
	lineartime.Require(t, 500, func(n int) func() {
		var buffers []*Buffer
		for range n {
			buffers = append(buffers, NewBuffer(make([]byte, 13), func() {}))
		}
		twice := append(buffers[:n:n], buffers...)
		require.Len(t, newColumn(nil, twice, bitmap{}, 0, buffers...).held, n)
		return func() { newColumn(nil, twice, bitmap{}, 0, buffers...).Release() }
	})
}
