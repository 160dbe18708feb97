package stringtensor

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/rosaline-go/rosaline/internal/lineartime"
)

func TestWhereInAgreesWithModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, m := drawColumn(t)
		members := rapid.SliceOfN(needleGen(m, func(s string, k int) string { return s[:k] }), 0, 40).Draw(t, "members")
		for i := range m {
			if s, ok := m.get(i); ok && rapid.IntRange(0, 3).Draw(t, "member") == 0 {
				members = append(members, s)
			}
		}
		in := map[string]bool{}
		for _, x := range members {
			in[x] = true
		}
		set := NewSet(members...)
		require.Equal(t, len(in), set.Len())
		want := m.where(func(s string) bool { return in[s] })
		requireSelection(t, want, c.WhereIn(set))
		requireSelection(t, want, c.WhereInInto(make(Selection, 5), set))
	})
}

func TestEmptySet(t *testing.T) {
	c := modelOf("", "a").build(t, MaxStringLen)
	require.Empty(t, c.WhereIn(&Set{}))
	require.Empty(t, c.WhereIn(NewSet()))
	require.False(t, new(Set).Contains(""))
}

// The filter of first words turns most of what is no member away.
func TestSetFilterRejects(t *testing.T) {
	for _, n := range []int{1, 3, 4, 100, 5000} {
		var members []string
		for i := range n {
			members = append(members, fmt.Sprintf("%d", i*7919))
		}
		s := NewSet(members...)
		passed := 0
		for i := range 10000 {
			if s.mayContain(lengthAndPrefix(fmt.Sprintf("x%d", i))) {
				passed++
			}
		}
		require.Less(t, passed, 1500, "%d members", n)
		for _, m := range members {
			require.True(t, s.mayContain(lengthAndPrefix(m)))
		}
	}
}

// Rows and members of one length and prefix, which the filter cannot tell apart:
// quadratic for a list of members that is searched through.
func TestWhereInIsLinear(t *testing.T) {
	lineartime.Require(t, 2000, func(n int) func() {
		var rows, members []string
		for i := range n {
			rows = append(rows, fmt.Sprintf("same first bytes %9d", i))
			members = append(members, fmt.Sprintf("same first bytes %9d", n/2+i))
		}
		c, set := modelOf(rows...).build(t, MaxStringLen), NewSet(members...)
		dst := make(Selection, 0, n)
		return func() {
			dst = c.WhereInInto(dst, set)
			if len(dst) != n-n/2 {
				panic("wrong rows")
			}
		}
	})
}
