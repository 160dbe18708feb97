package stringtensor

import (
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"
)

// The bytes follow from the drawing of the layout, written out by hand.
func TestViewBytes(t *testing.T) {
	const long = "abcdefghijklm"
	for _, x := range []struct {
		row, bytes string
	}{
		{"", "00000000" + "00000000" + "0000000000000000"},
		{"a", "01000000" + "61000000" + "0000000000000000"},
		{"abcd", "04000000" + "61626364" + "0000000000000000"},
		{"abcde", "05000000" + "61626364" + "6500000000000000"},
		{"abcdefghijkl", "0c000000" + "61626364" + "65666768696a6b6c"},
		{long, "0d000000" + "61626364" + "00000000" + "00000000"},
		{long + "n", "0e000000" + "61626364" + "00000000" + "0d000000"},
		{long + "no", "0f000000" + "61626364" + "01000000" + "00000000"},
	} {
		c, err := FromStrings([]string{x.row})
		require.NoError(t, err)
		if len(x.row) > MaxInline {
			// The three long rows together show buffer and offset.
			b := NewBuilder(WithMaxBuffer(27))
			for _, s := range []string{long, long + "n", long + "no"} {
				require.NoError(t, b.AppendString(s))
			}
			c = b.Finish()
			c, err = c.Slice(len(x.row)-13, len(x.row)-12)
			require.NoError(t, err)
		}
		v := c.View(0)
		b := v.Bytes()
		require.Equal(t, x.bytes, hex.EncodeToString(b[:]), x.row)
		require.Equal(t, v, ViewFromBytes(b))
		require.Equal(t, len(x.row), v.Len())
		require.Equal(t, len(x.row) <= 12, v.IsInline())
		require.Equal(t, x.row, c.At(0))
	}
}

func TestViewAccessors(t *testing.T) {
	v := pooledView([]byte("abcdefghijklmnop"), 7, MaxStringLen)
	require.Equal(t, 16, v.Len())
	require.Equal(t, uint32('a'|'b'<<8|'c'<<16|'d'<<24), v.Prefix())
	require.Equal(t, 7, v.Buffer())
	require.Equal(t, MaxStringLen, v.Offset())

	_, ok := InlineView([]byte("abcdefghijklm"))
	require.False(t, ok)
}

// A slot that held a longer string keeps nothing of it: padding is written, not
// assumed.
func TestReusedSlotIsPadded(t *testing.T) {
	scratch := []byte("abcdefghijkl")
	long, _ := InlineView(scratch)
	short, _ := InlineView(scratch[:5])
	want, _ := InlineView([]byte("abcde"))
	require.Equal(t, want, short)
	require.NotEqual(t, long, short)

	b := NewBuilder()
	room, err := b.Room(12)
	require.NoError(t, err)
	copy(room, "abcdefghijkl")
	b.AppendRoom(5)
	require.Equal(t, want, b.Finish().View(0))
}
