package stringtensor

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestEditorAgreesWithTheModel edits columns of every layout.
func TestEditorAgreesWithTheModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, m := drawColumn(t)
		e, want := NewEditor(c), model{}
		unchanged := rapid.IntRange(0, len(m)).Draw(t, "unchanged")
		for i := range m {
			s, ok := m.get(i)
			kind := rapid.IntRange(0, 3).Draw(t, "kind")
			switch {
			case i < unchanged || !ok || kind == 0:
				e.Keep(i)
				want = append(want, m[i])
			case kind == 1:
				lo := rapid.IntRange(0, len(s)).Draw(t, "lo")
				hi := rapid.IntRange(lo, len(s)).Draw(t, "hi")
				e.Cut(i, lo, hi)
				cut := s[lo:hi]
				want = append(want, &cut)
			case kind == 2:
				written := strings.ToUpper(s)
				room, err := e.Room(len(written) + 3)
				require.NoError(t, err)
				e.AppendRoom(copy(room, written))
				want = append(want, &written)
			}
		}
		requireRows(t, want, e.Finish())
	})
}

// TestEditorOfManyRowsAgreesWithTheModel keeps and cuts rows in groups.
func TestEditorOfManyRowsAgreesWithTheModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, m := drawColumn(t)
		e, want := NewEditor(c), model{}
		for range rapid.IntRange(0, 6).Draw(t, "groups") {
			lo := rapid.OneOf(rapid.Just(min(len(want), len(m))), rapid.IntRange(0, len(m))).Draw(t, "row")
			hi := rapid.IntRange(lo, len(m)).Draw(t, "end")
			if rapid.Bool().Draw(t, "keep") {
				e.KeepRows(lo, hi)
				want = append(want, m[lo:hi]...)
				continue
			}
			var parts []Part
			for i := lo; i < hi; i++ {
				s, ok := m.get(i)
				from := rapid.IntRange(0, len(s)).Draw(t, "from")
				to := rapid.IntRange(from, len(s)).Draw(t, "to")
				parts = append(parts, Part{int32(from), int32(to)})
				if cut := s[from:to]; ok {
					want = append(want, &cut)
				} else {
					want = append(want, nil)
				}
			}
			e.CutRows(lo, parts)
		}
		requireRows(t, want, e.Finish())
	})
}

// TestEditorKeepsInAnyOrder: rows may come more than once.
func TestEditorKeepsInAnyOrder(t *testing.T) {
	rows := modelOf("a row that is not inline", "short", "another one that is longer")
	rows = append(rows, nil)
	c := rows.build(t, MaxStringLen)
	e := NewEditor(c)
	order := []uint32{0, 1, 1, 3, 2, 0, 3, 2}
	for _, i := range order {
		e.Keep(int(i))
	}
	requireRows(t, rows.take(order), e.Finish())
	requireRows(t, model{}, NewEditor(c).Finish())
}

// TestEditorCutsRowsAmongNulls: what is long, short or null comes in any order.
func TestEditorCutsRowsAmongNulls(t *testing.T) {
	rows := modelOf("  a row that is not inline", "short", "  another one that is longer")
	rows = append(rows, nil)
	c := rows.build(t, MaxStringLen)
	e := NewEditor(c)
	e.CutRows(2, []Part{{2, 27}, {0, 0}})
	e.CutRows(0, []Part{{2, 24}, {1, 5}, {2, 15}})
	got := e.Finish()
	require.NoError(t, got.Validate())
	require.Equal(t, []string{"another one that is longe", "", "a row that is not inli", "hort", "another one t"}, got.Strings())
	require.Equal(t, []byte{0b11101}, got.Validity())
}

// TestEditorShares: kept and cut rows stay in the buffers of the column, which live as
// long as the result.
func TestEditorShares(t *testing.T) {
	released := 0
	payload := []byte("  a row that is to be trimmed  a row to keep as it is")
	c, err := FromOffsets([]int64{0, 31, int64(len(payload))}, payload, WithRelease(func() { released++ }))
	require.NoError(t, err)

	same, cut := NewEditor(c), NewEditor(c)
	same.Keep(0)
	cut.Cut(0, 2, 29)
	cut.Keep(1)
	whole, part := same.Finish(), cut.Finish()
	c.Release()
	require.Equal(t, []string{"  a row that is to be trimmed  "}, whole.Strings())
	require.Equal(t, []string{"a row that is to be trimmed", "a row to keep as it is"}, part.Strings())
	require.Same(t, &payload[2], &part.Bytes(0)[0])
	whole.Release()
	require.Zero(t, released)
	part.Release()
	require.Equal(t, 1, released)
}

func TestEditorPanicsOutsideRows(t *testing.T) {
	c := modelOf("a row that is not inline", "short").build(t, MaxStringLen)
	for _, f := range []func(*Editor){
		func(e *Editor) { e.Keep(2) },
		func(e *Editor) { e.Keep(-1) },
		func(e *Editor) { e.Cut(2, 0, 0) },
		func(e *Editor) { e.Cut(0, 0, 25) },
		func(e *Editor) { e.Cut(0, -1, 20) },
		func(e *Editor) { e.Cut(0, 20, 4) },
		func(e *Editor) { e.Cut(1, 0, 6) },
		func(e *Editor) { e.Cut(1, 3, 2) },
		func(e *Editor) { e.KeepRows(0, 3) },
		func(e *Editor) { e.KeepRows(-1, 1) },
		func(e *Editor) { e.CutRows(1, make([]Part, 2)) },
		func(e *Editor) { e.CutRows(-1, make([]Part, 1)) },
		func(e *Editor) { e.CutRows(0, []Part{{0, 25}}) },
		func(e *Editor) { e.CutRows(0, []Part{{-1, 20}}) },
		func(e *Editor) { e.CutRows(0, []Part{{20, 4}}) },
		func(e *Editor) { e.CutRows(1, []Part{{0, 20}}) },
	} {
		require.Panics(t, func() { f(NewEditor(c)) })
	}
}
