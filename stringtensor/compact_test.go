package stringtensor

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// usedBytes marks the payload bytes that some row uses, byte by byte.
func usedBytes(c *Column) int {
	used := map[string]bool{}
	for i := range c.views {
		if v := c.views[i]; !v.IsInline() {
			for k := range v.Len() {
				used[fmt.Sprint(v.Buffer(), v.Offset()+k)] = true
			}
		}
	}
	return len(used)
}

func TestCompactAgreesWithModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, m := drawColumn(t)
		d := c.Compact()
		requireRows(t, m, d)
		have := 0
		for _, b := range d.Buffers() {
			have += b.Len()
		}
		require.Equal(t, usedBytes(c), have, "each used byte once, no other")

		limit := rapid.IntRange(13, 60).Draw(t, "limit")
		d = c.Compact(WithMaxBuffer(limit))
		requireRows(t, m, d)
		for i := range c.views {
			limit = max(limit, c.views[i].Len())
		}
		for _, b := range d.Buffers() {
			require.LessOrEqual(t, b.Len(), limit)
			require.NotZero(t, b.Len())
		}
	})
}

func TestCompactOfOverlappingRows(t *testing.T) {
	data := []byte("0123456789abcdefghijklmnopqrstuvwxyz")
	buffers := []*Buffer{NewBuffer(data, nil)}
	var views []StringView16
	want := model{}
	for _, x := range [][2]int{{5, 20}, {2, 16}, {2, 30}, {5, 20}, {20, 36}, {21, 34}} {
		views = append(views, pooledView(data[x[0]:x[1]], 0, x[0]))
		s := string(data[x[0]:x[1]])
		want = append(want, &s)
	}
	c := newColumn(views, buffers, bitmap{}, 0).Compact()
	requireRows(t, want, c)
	require.Equal(t, string(data[2:]), string(c.Buffers()[0].Bytes()))
}

// Rows with gaps between them fill a buffer to the limit and not beyond.
func TestCompactFillsToTheLimit(t *testing.T) {
	m := modelOf(strings.Repeat("a", 13), "a gap of many bytes", strings.Repeat("b", 13), "another gap, longer", strings.Repeat("c", 14))
	c, err := m.build(t, MaxStringLen).Take([]uint32{0, 2, 4})
	require.NoError(t, err)
	for limit, sizes := range map[int][]int{40: {40}, 39: {26, 14}, 26: {26, 14}, 25: {13, 13, 14}} {
		var got []int
		for _, b := range c.Compact(WithMaxBuffer(limit)).Buffers() {
			got = append(got, b.Len())
		}
		require.Equal(t, sizes, got, "limit %d", limit)
	}
}

func TestCompactOnlyBelow(t *testing.T) {
	row := "a row that has thirty-two bytes."
	payload := []byte{}
	offsets := []uint32{0}
	for range 4 {
		payload = append(payload, row...)
		offsets = append(offsets, uint32(len(payload)))
	}
	c, err := FromOffsets(offsets, payload[:len(payload):len(payload)])
	require.NoError(t, err)
	for _, x := range []struct {
		rows   []uint32
		share  float64
		copies bool
	}{
		{[]uint32{0, 1, 2, 3}, 1, false},
		{[]uint32{0, 1}, 0.5, false}, // exactly half
		{[]uint32{0}, 0.5, true},
		{[]uint32{0, 0, 0}, 0.5, true}, // one row three times uses it once
		{[]uint32{0, 1}, 0.51, true},
		{[]uint32{0}, 0, false},
	} {
		part, err := c.Take(x.rows)
		require.NoError(t, err)
		d := part.Compact(WithUseBelow(x.share))
		require.True(t, part.Equal(d))
		require.Equal(t, x.copies, &d.Bytes(0)[0] != &part.Bytes(0)[0], "%v below %v", x.rows, x.share)
	}
}

// One percent of a column: what is kept shrinks to what is used.
func TestCompactOfASmallFilter(t *testing.T) {
	var rows []string
	for i := range 10000 {
		rows = append(rows, fmt.Sprintf("row %5d, which has more than twelve bytes", i))
	}
	c := modelOf(rows...).build(t, MaxStringLen)
	var pick []uint32
	for i := 0; i < len(rows); i += 100 {
		pick = append(pick, uint32(i))
	}
	few, err := c.Take(pick)
	require.NoError(t, err)
	require.Greater(t, few.RetainedBytes(), c.PayloadBytes())
	d := few.Compact(WithUseBelow(0.5))
	require.True(t, few.Equal(d))
	require.Equal(t, d.PayloadBytes()+Slack+int64(d.Len())*ViewSize, d.RetainedBytes())
}
