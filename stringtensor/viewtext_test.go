package stringtensor

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/rosaline-go/rosaline/internal/lineartime"
)

func TestUTF8IndexAgreesWithStdlib(t *testing.T) {
	pieces := [][]byte{[]byte("a"), []byte("é"), []byte("東"), []byte("𝄞"), {0x80}, {0xC3}, {0xE6, 0x9D}, {0xF0, 0x9D, 0x84}, {0xED, 0xA0, 0x80}, {0xFF}, bytes.Repeat([]byte("x"), 61)}
	rapid.Check(t, func(t *rapid.T) {
		var data []byte
		for _, p := range rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 12).Draw(t, "pieces") {
			data = append(data, p...)
		}
		x := newUTF8Index(data)
		for lo := range len(data) + 1 {
			for hi := lo; hi <= len(data); hi++ {
				require.Equal(t, utf8.Valid(data[lo:hi]), x.valid(lo, hi), "%q[%d:%d]", data, lo, hi)
			}
		}
	})
}

// sharedRows returns n rows that all show the same n bytes of a buffer that is not
// UTF-8 as a whole.
func sharedRows(n int) *Column {
	data := append(bytes.Repeat([]byte("é"), n/2), 0xff)
	views := make([]StringView16, n)
	for i := range views {
		views[i] = pooledView(data[:n], 0, 0)
	}
	return newColumn(views, []*Buffer{NewBuffer(data, nil)}, bitmap{}, 0)
}

// Whoever checks views that others made must read shared bytes once only.
func TestCheckOfSharedTextIsLinear(t *testing.T) {
	for name, check := range map[string]func(*Column) error{
		"validate": (*Column).ValidateUTF8,
		"make": func(c *Column) error {
			_, err := FromViews(c.views, c.buffers)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			lineartime.Require(t, 1<<12, func(n int) func() {
				c := sharedRows(n)
				return func() { require.NoError(t, check(c)) }
			})
		})
	}
}

func TestValidateUTF8NamesTheRowOfSharedText(t *testing.T) {
	c := sharedRows(1 << 10)
	c.views[7] = pooledView(c.buffers[0].data[1:1<<10], 0, 1)
	require.ErrorIs(t, c.ValidateUTF8(), ErrInvalidUTF8)
	require.ErrorContains(t, c.ValidateUTF8(), "row 7")
}

// Rows anywhere in buffers that are UTF-8 as a whole, nearly, or not.
func TestValidateUTF8AgreesWithStdlib(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := []string{"a", "é", "東", "𝄞", "some letters and no more", "\x80"}
		pieces = pieces[:rapid.IntRange(1, len(pieces)).Draw(t, "kinds of pieces")]
		data := []byte(strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 14, 60).Draw(t, "pieces"), ""))
		var views []StringView16
		bad := -1
		for i := range rapid.IntRange(1, 20).Draw(t, "rows") {
			lo := rapid.IntRange(0, len(data)).Draw(t, "lo")
			row := data[lo:rapid.IntRange(lo, len(data)).Draw(t, "hi")]
			v, ok := InlineView(row)
			if !ok {
				v = pooledView(row, 0, lo)
			}
			views = append(views, v)
			if bad < 0 && !utf8.Valid(row) {
				bad = i
			}
		}
		err := newColumn(views, []*Buffer{NewBuffer(data, nil)}, bitmap{}, 0).ValidateUTF8()
		if bad < 0 {
			require.NoError(t, err)
			return
		}
		require.ErrorIs(t, err, ErrInvalidUTF8)
		require.ErrorContains(t, err, fmt.Sprintf("row %d,", bad))
	})
}

// Text of several pieces, whose borders are anywhere in a code point, with one byte that
// is wrong in some row or between rows.
func TestValidateUTF8OfLongBuffers(t *testing.T) {
	for _, character := range []string{"é", "東", "𝄞"} {
		for shift := range len(character) {
			data := []byte(strings.Repeat("x", shift) + strings.Repeat(character, 3*textPiece/len(character)))
			var views []StringView16
			lo := shift
			for lo+600*len(character) <= len(data) {
				hi := lo + 500*len(character)
				views = append(views, pooledView(data[lo:hi], 0, lo))
				lo = hi + len(character) // a gap
			}
			c := newColumn(views, []*Buffer{NewBuffer(data, nil)}, bitmap{}, 0)
			require.NoError(t, c.ValidateUTF8())
			text := newViewText(c.views, c.data)
			text.read(&views[len(views)-1])
			require.True(t, text.states[0].whole, "no piece ends within a character")

			for _, i := range []int{1, len(views) / 2, len(views) - 1} {
				end := views[i].Offset() + views[i].Len()
				was := data[end]
				data[end] = 0xff // in the gap
				require.NoError(t, c.ValidateUTF8())
				data[end] = was

				was = data[end-1]
				data[end-1] = 'x'
				require.ErrorContains(t, c.ValidateUTF8(), fmt.Sprintf("row %d,", i))
				data[end-1] = was

				views[i].lo++ // the row ends in the character of the gap
				require.ErrorContains(t, c.ValidateUTF8(), fmt.Sprintf("row %d,", i))
				views[i].lo--
			}
		}
	}
}
