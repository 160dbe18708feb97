package stringtensor

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/rosaline-go/rosaline/internal/lineartime"
)

func TestFastEqAndCompareAgreeWithModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, m := drawColumn(t)
		d, n := drawColumn(t)
		for i := range m {
			for j := range n {
				x, xok := m.get(i)
				y, yok := n.get(j)
				require.Equal(t, xok == yok && x == y, c.FastEq(i, d, j), "%q %v, %q %v", x, xok, y, yok)
				want := strings.Compare(x, y)
				if !xok || !yok {
					want = map[bool]int{true: 1, false: 0}[xok] - map[bool]int{true: 1, false: 0}[yok]
				}
				require.Equal(t, want, c.Compare(i, d, j), "%q %v, %q %v", x, xok, y, yok)
			}
		}
	})
}

func TestEqualAgreesWithModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, m := drawColumn(t)
		same := m.build(t, rapid.SampledFrom([]int{40, 70, MaxStringLen}).Draw(t, "limit"))
		require.True(t, c.Equal(same))
		require.True(t, same.Equal(c))
		require.True(t, c.Equal(c))
		require.True(t, c.Equal(c.Compact()))
		if len(m) == 0 {
			return
		}

		// One row that differs must be found, wherever it is and however little.
		i := rapid.IntRange(0, len(m)-1).Draw(t, "row")
		s, ok := m.get(i)
		x := s + "\x00"
		if k := len(s); ok && k > 0 && rapid.Bool().Draw(t, "last byte") {
			x = s[:k-1] + string(s[k-1]^1)
		}
		changed := append(model{}, m...)
		changed[i] = &x
		if ok && s == "" || rapid.IntRange(0, 3).Draw(t, "null") == 0 {
			changed[i] = nil
			if !ok {
				s = ""
				changed[i] = &s
			}
		}
		other := changed.build(t, rapid.SampledFrom([]int{40, MaxStringLen}).Draw(t, "other limit"))
		require.False(t, c.Equal(other), "row %d", i)
		require.False(t, other.Equal(c), "row %d", i)
	})
}

// Rows that would lie end to end if they were in one buffer are no piece.
func TestEqualAcrossBuffers(t *testing.T) {
	d, m := acrossBuffers()
	c := m.build(t, MaxStringLen)
	requireRows(t, m, d)
	require.True(t, c.Equal(d))
	require.True(t, d.Equal(c))
}

// The same views, bit for bit, into buffers that are not the same.
func TestEqualOfSameViews(t *testing.T) {
	a := modelOf("more than twelve bytes A").build(t, MaxStringLen)
	b := modelOf("more than twelve bytes B").build(t, MaxStringLen)
	require.Equal(t, a.View(0), b.View(0))
	require.False(t, a.Equal(b))
	require.False(t, a.FastEq(0, b, 0))
}

func TestEqualLengths(t *testing.T) {
	a := modelOf("a", "b").build(t, MaxStringLen)
	require.False(t, a.Equal(modelOf("a").build(t, MaxStringLen)))
	var none Column
	require.True(t, none.Equal(modelOf().build(t, MaxStringLen)))
}

// Nulls in other rows, the same number of them.
func TestEqualSeesWhichRowIsNull(t *testing.T) {
	empty := ""
	a := model{nil, &empty}.build(t, MaxStringLen)
	b := model{&empty, nil}.build(t, MaxStringLen)
	require.False(t, a.Equal(b))
	require.False(t, a.FastEq(0, a, 1))
	require.True(t, a.FastEq(0, b, 1))
}

// 12 and 13 bytes, where a string moves out of its view, in every place of the
// difference.
func TestCompareAtTheBorder(t *testing.T) {
	var rows []string
	for n := 11; n <= 14; n++ {
		base := []byte("abcdefghijklmnop")[:n]
		rows = append(rows, string(base))
		for i := range base {
			for _, x := range []byte{0, 0xff} {
				row := append([]byte(nil), base...)
				row[i] = x
				rows = append(rows, string(row))
			}
		}
	}
	c := modelOf(rows...).build(t, MaxStringLen)
	for i := range rows {
		for j := range rows {
			require.Equal(t, strings.Compare(rows[i], rows[j]), c.Compare(i, c, j), "%q %q", rows[i], rows[j])
			require.Equal(t, rows[i] == rows[j], c.FastEq(i, c, j), "%q %q", rows[i], rows[j])
		}
	}
}

func TestEqualIsLinear(t *testing.T) {
	lineartime.Require(t, 4000, func(n int) func() {
		var rows []string
		for i := range n {
			rows = append(rows, fmt.Sprintf("a row of %d of more than twelve bytes", i))
		}
		a, b := modelOf(rows...).build(t, MaxStringLen), modelOf(rows...).build(t, 100)
		return func() {
			if !a.Equal(b) {
				panic("equal columns differ")
			}
		}
	})
}

// scattered lays rows out in buffers of their own: gaps[i] bytes of junk before row i,
// a new buffer where cut[i], spare empty buffers in front, and head bytes more before
// the first row of each. Rows of nil are null.
func (m model) scattered(gaps []int, cut []bool, spare, head int, junk string) *Column {
	buffers := [][]byte{nil}
	for range spare {
		buffers = append(buffers, nil)
	}
	views, valid, nulls := make([]StringView16, len(m)), newBitmap(len(m)), 0
	for i := range m {
		s, ok := m.get(i)
		if !ok {
			nulls++
			continue
		}
		valid.set(i)
		b := len(buffers) - 1
		if cut[i] && len(buffers[b]) > 0 {
			buffers = append(buffers, nil)
			b++
		}
		if len(buffers[b]) == 0 {
			buffers[b] = append(buffers[b], strings.Repeat(junk, head)...)
		}
		buffers[b] = append(buffers[b], strings.Repeat(junk, gaps[i])...)
		if len(s) > MaxInline {
			views[i] = pooledView([]byte(s), b, len(buffers[b]))
			buffers[b] = append(buffers[b], s...)
		} else {
			views[i], _ = InlineView([]byte(s))
		}
	}
	list := make([]*Buffer, len(buffers))
	for i, data := range buffers {
		list[i] = NewBuffer(data, nil)
	}
	return newColumn(views, list, valid, nulls)
}

// Columns of one shape whose payload lies elsewhere: later in its buffers, in buffers
// of other numbers, with gaps that hold other bytes.
func TestEqualWhereverPayloadLies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := modelGen().Draw(t, "model")
		for i := range m {
			if s, ok := m.get(i); ok && rapid.IntRange(0, 2).Draw(t, "long") > 0 {
				s += strings.Repeat("long", rapid.IntRange(4, 20).Draw(t, "times"))
				m[i] = &s
			}
		}
		gap := rapid.SampledFrom([]int{0, 0, 1, 30}).Draw(t, "gap")
		gaps := rapid.SliceOfN(rapid.IntRange(0, gap), len(m), len(m)).Draw(t, "gaps")
		cut := rapid.SliceOfN(rapid.SampledFrom([]bool{false, false, false, true}), len(m), len(m)).Draw(t, "cut")
		column := func(m model, junk string) *Column {
			return m.scattered(gaps, cut, rapid.IntRange(0, 2).Draw(t, "spare"), rapid.IntRange(0, 20).Draw(t, "head"), junk)
		}
		c, d := column(m, "x"), column(m, rapid.SampledFrom([]string{"x", "y"}).Draw(t, "junk"))
		requireRows(t, m, c)
		require.True(t, c.Equal(d))
		require.True(t, d.Equal(c))

		changed := append(model{}, m...)
		for i := range m {
			s, ok := m.get(i)
			if !ok || s == "" {
				continue
			}
			k := rapid.IntRange(0, len(s)-1).Draw(t, "byte")
			x := s[:k] + string(s[k]^1) + s[k+1:]
			changed[i] = &x
			e := column(changed, "x")
			require.False(t, c.Equal(e), "byte %d of row %d", k, i)
			require.False(t, e.Equal(c), "byte %d of row %d", k, i)
			changed[i] = m[i]
		}
	})
}

// Rows in any order over buffers that both columns have: nothing of them is read, so
// buffers whose rows lie do no harm.
func TestEqualOfSharedBuffers(t *testing.T) {
	rows := modelOf(strings.Repeat("a", 30), strings.Repeat("b", 40), "inline", strings.Repeat("c", 50))
	c := rows.build(t, MaxStringLen)
	d, err := c.Take([]uint32{3, 0, 1, 0, 2})
	require.NoError(t, err)
	e, err := c.Take([]uint32{3, 0, 1, 0, 2})
	require.NoError(t, err)
	require.True(t, d.Equal(e))
	e, err = c.Take([]uint32{3, 0, 1, 1, 2})
	require.NoError(t, err)
	require.False(t, d.Equal(e))
	// The same bytes behind both, once shared and once not.
	again, err := d.Compact().Take([]uint32{0, 1, 2, 3, 4})
	require.NoError(t, err)
	require.True(t, d.Equal(again))
}

// Many rows that are equal, so that whole blocks are compared, and one that is not.
func TestEqualFindsTheRowThatDiffers(t *testing.T) {
	for _, long := range []string{"", " and more than twelve bytes"} {
		var rows []string
		for i := range 3000 {
			rows = append(rows, fmt.Sprintf("%04d%s", i, long))
		}
		c := modelOf(rows...).build(t, MaxStringLen)
		for _, limit := range []int{200, MaxStringLen} {
			for _, i := range []int{0, 1, 7, 8, 63, 1500, 2998, 2999} {
				kept := rows[i]
				rows[i] = kept[:len(kept)-1] + "\x00"
				require.False(t, c.Equal(modelOf(rows...).build(t, limit)), "row %d", i)
				rows[i] = kept
			}
			require.True(t, c.Equal(modelOf(rows...).build(t, limit)))
		}
	}
}
