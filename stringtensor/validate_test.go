package stringtensor

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Each row breaks one rule of the layout, and the error names it.
func TestValidateNamesTheFirstBadRow(t *testing.T) {
	data := []byte("some payload that is long enough")
	buffers := []*Buffer{NewBuffer(data, nil)}
	good := pooledView(data[:20], 0, 0)
	inline, _ := InlineView([]byte("abc"))
	view := func(n uint32, prefix string, buffer, offset uint32) StringView16 {
		key, _ := prefixKey(prefix)
		return StringView16{uint64(n) | key, uint64(buffer) | uint64(offset)<<32}
	}
	for name, x := range map[string]struct {
		view StringView16
		text string
	}{
		"padding in the prefix":        {StringView16{1 | 0x6261<<32, 0}, "padding after 1 bytes"},
		"padding after the prefix":     {StringView16{4 | 0x64636261<<32, 1}, "padding after 4 bytes"},
		"padding in the last byte":     {StringView16{11 | 0x64636261<<32, 1 << 56}, "padding after 11 bytes"},
		"padding of the empty string":  {StringView16{0, 1}, "padding after 0 bytes"},
		"no such buffer":               {view(20, "some", 1, 0), "buffer 1 of 1"},
		"negative buffer":              {view(20, "some", 1<<32-1, 0), "buffer -1 of 1"},
		"end beyond the buffer":        {view(20, "oad ", 0, 13), "20 bytes at 13 are not in buffer 0 of 32"},
		"begin beyond the buffer":      {view(20, "some", 0, 33), "20 bytes at 33"},
		"negative offset":              {view(20, "some", 0, 1<<32-1), "20 bytes at -1"},
		"offset and length wrap":       {view(1<<31-1, "some", 0, 1<<31), "are not in buffer 0"},
		"length of 2³¹":                {view(1<<31, "some", 0, 0), "length 2147483648"},
		"length of 2³²−1":              {view(1<<32-1, "some", 0, 1), "length 4294967295"},
		"prefix of another string":     {view(20, "sOme", 0, 0), "prefix"},
		"prefix right, place is wrong": {view(20, "some", 0, 1), "prefix"},
	} {
		t.Run(name, func(t *testing.T) {
			views := []StringView16{good, inline, x.view, x.view}
			err := newColumn(views, buffers, bitmap{}, 0).Validate()
			require.ErrorIs(t, err, ErrInvalid)
			require.ErrorContains(t, err, "row 2: ")
			require.ErrorContains(t, err, x.text)

			_, err = FromViews(views, buffers)
			require.ErrorIs(t, err, ErrInvalid)
		})
	}
	require.NoError(t, newColumn([]StringView16{good, inline, {}}, buffers, bitmap{}, 0).Validate())
}

func TestValidateNulls(t *testing.T) {
	a, _ := InlineView([]byte("a"))
	valid := bitmap{[]byte{0b101}, 0}
	require.NoError(t, newColumn([]StringView16{a, {}, a}, nil, valid, 1).Validate())

	err := newColumn([]StringView16{a, a, a}, nil, valid, 1).Validate()
	require.ErrorIs(t, err, ErrInvalid)
	require.ErrorContains(t, err, "row 1 is null but its view is not zero")

	require.ErrorContains(t, newColumn([]StringView16{a, {}, a}, nil, valid, 2).Validate(), "1 rows are null, not 2")
	require.ErrorContains(t, newColumn(make([]StringView16, 9), nil, valid, 7).Validate(), "does not cover 9 rows")
}

func TestValidateUTF8(t *testing.T) {
	for _, x := range []struct{ row, where string }{
		{"\xff", "row 1, byte 0 "},
		{"ab\xc3", "row 1, byte 2 "},
		{"日\xe6\x97", "row 1, byte 3 "},
		{"more than twelve \xed\xa0\x80", "row 1, byte 17 "}, // a surrogate
	} {
		c := modelOf("good é 日本語 𝄞", x.row, x.row).build(t, MaxStringLen)
		require.NoError(t, c.Validate())
		err := c.ValidateUTF8()
		require.ErrorIs(t, err, ErrInvalidUTF8)
		require.ErrorContains(t, err, x.where)
	}
	require.NoError(t, modelOf("\uFFFD", "", "𝄞𝄞𝄞𝄞").build(t, MaxStringLen).ValidateUTF8())
}

// Whatever the views say, Validate must not fail in any other way than by its
// error, and after it every row must be readable.
func FuzzValidate(f *testing.F) {
	data := []byte("some payload that is long enough for more than one row")
	good := pooledView(data[5:30], 0, 5).Bytes()
	inline, _ := InlineView([]byte("abcdefghijkl"))
	in := inline.Bytes()
	f.Add(good[:], []byte(nil))
	f.Add(append(append([]byte(nil), good[:]...), in[:]...), []byte{3})
	f.Add(make([]byte, 32), []byte{1})
	f.Add([]byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), []byte{0xff})
	f.Fuzz(func(t *testing.T, raw, valid []byte) {
		views := make([]StringView16, len(raw)/ViewSize)
		for i := range views {
			views[i] = ViewFromBytes([ViewSize]byte(raw[i*ViewSize:]))
		}
		buffers := []*Buffer{NewBuffer(data, nil), NewBuffer(data[:20], nil), NewBuffer(nil, nil)}
		var opts []OffsetsOption
		if len(valid) > 0 {
			opts = append(opts, WithValidity(valid, 0))
		}
		c, err := FromViews(views, buffers, opts...)
		if err != nil {
			return
		}
		for i := range views {
			_ = c.At(i)
		}
		offsets, payload, err := c.GPUBuffers()
		require.NoError(t, err)
		if c.NullCount() == 0 {
			back, err := FromGPUBuffers(offsets, payload)
			require.NoError(t, err)
			require.True(t, c.Equal(back))
		}
	})
}
