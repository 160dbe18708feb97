package stringtensor

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
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
	requireLinear(t, 20000, func(n int) func() {
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
