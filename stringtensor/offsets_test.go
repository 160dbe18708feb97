package stringtensor

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func convert[T int32 | uint32 | int64](offsets []uint32) []T {
	out := make([]T, len(offsets))
	for i, o := range offsets {
		out[i] = T(o)
	}
	return out
}

func TestFromOffsetsAgreesWithModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := modelGen().Draw(t, "model")
		offsets, payload, valid := offsetsOf(t, m)
		shift := rapid.IntRange(0, 9).Draw(t, "shift")
		shifted := newBitmap(len(m) + shift)
		shifted.put(shift, bitmap{valid, 0}, len(m))
		limit := rapid.SampledFrom([]int{40, 60, MaxStringLen}).Draw(t, "limit")
		opts := []OffsetsOption{WithValidity(shifted.bits, shift), WithMaxBuffer(limit)}
		a, err := FromOffsets(offsets, payload, opts...)
		require.NoError(t, err)
		b, err := FromOffsets(convert[int32](offsets), payload, opts...)
		require.NoError(t, err)
		c, err := FromOffsets(convert[int64](offsets), payload, opts...)
		require.NoError(t, err)
		for _, c := range []*Column{a, b, c} {
			requireRows(t, m, c)
			require.NoError(t, c.ValidateUTF8())
			for _, x := range c.Buffers() {
				require.LessOrEqual(t, x.Len(), limit)
			}
		}
	})
}

func TestFromOffsetsDoesNotCopyPayload(t *testing.T) {
	payload := []byte("short" + "longer than twelve bytes")
	c, err := FromOffsets([]int32{0, 5, 29}, payload)
	require.NoError(t, err)
	require.Same(t, &payload[5], &c.Bytes(1)[0])

	// Where no row needs it, the payload is not kept either.
	c, err = FromOffsets([]int32{0, 5}, payload)
	require.NoError(t, err)
	require.Empty(t, c.Buffers())
}

func TestFromOffsetsLimit(t *testing.T) {
	rows := []string{strings.Repeat("a", 15), "in", strings.Repeat("b", 13), "", strings.Repeat("c", 15), strings.Repeat("d", 14)}
	offsets, payload := []int64{0}, ""
	for _, r := range rows {
		payload += r
		offsets = append(offsets, int64(len(payload)))
	}
	c, err := FromOffsets(offsets, []byte(payload), WithMaxBuffer(15))
	require.NoError(t, err)
	requireRows(t, modelOf(rows...), c)
	require.Len(t, c.Buffers(), 4)

	_, err = FromOffsets(offsets, []byte(payload), WithMaxBuffer(14))
	require.ErrorIs(t, err, ErrStringTooLong)
	require.ErrorContains(t, err, "row 0 has 15 bytes, the limit is 14")
}

func TestFromOffsetsErrors(t *testing.T) {
	const text = "aé日𝄞 and more than twelve bytes"
	for name, x := range map[string]struct {
		offsets []int64
		payload string
		opts    []OffsetsOption
		err     error
		text    string
	}{
		"negative":                 {[]int64{-1, 3}, text, nil, ErrInvalid, "offset 0 is -1"},
		"decreases":                {[]int64{0, 3, 1, 9}, text, nil, ErrInvalid, "offset 2 is 1, below offset 1, which is 3"},
		"decreases by one":         {[]int64{3, 3, 2, 9}, text, nil, ErrInvalid, "offset 2 is 2, below offset 1, which is 3"},
		"beyond by one":            {[]int64{0, 38, 38}, text, nil, ErrInvalid, "offset 1 is 38, beyond the payload of 37"},
		"beyond":                   {[]int64{0, 1, 99, 100}, text, nil, ErrInvalid, "offset 2 is 99, beyond the payload of 37"},
		"one offset beyond":        {[]int64{99}, text, nil, ErrInvalid, "offset 0 is 99"},
		"far beyond an int":        {[]int64{0, math.MaxInt64}, text, nil, ErrInvalid, "offset 1"},
		"inside two bytes":         {[]int64{0, 2, 37}, text, nil, ErrInvalidUTF8, "row 0, byte 1"},
		"begins inside a char":     {[]int64{2, 37}, text, nil, ErrInvalidUTF8, "row 0, byte 0"},
		"ends inside a char":       {[]int64{0, 9}, text, nil, ErrInvalidUTF8, "row 0, byte 6"},
		"inside after empty rows":  {[]int64{0, 0, 1, 4, 4, 37}, text, nil, ErrInvalidUTF8, "row 2, byte 2"},
		"bad byte":                 {[]int64{0, 1, 3}, "a\xffb", nil, ErrInvalidUTF8, "row 1, byte 0 of it (offset 1 is 1)"},
		"bad byte beside a null":   {[]int64{0, 1, 2}, "\xff\xff", []OffsetsOption{WithValidity([]byte{0b10}, 0)}, ErrInvalidUTF8, "row 1, byte 0"},
		"validity too short":       {make([]int64, 10), "", []OffsetsOption{WithValidity([]byte{0xff}, 0)}, ErrLengthMismatch, "for 9 rows"},
		"validity shifted away":    {make([]int64, 9), "", []OffsetsOption{WithValidity([]byte{0xff}, 1)}, ErrLengthMismatch, "for 8 rows"},
		"validity before its bits": {make([]int64, 2), "", []OffsetsOption{WithValidity([]byte{0xff}, -1)}, ErrLengthMismatch, "for 1 rows"},
	} {
		t.Run(name, func(t *testing.T) {
			released := 0
			_, err := FromOffsets(x.offsets, []byte(x.payload), append(x.opts, WithRelease(func() { released++ }))...)
			require.ErrorIs(t, err, x.err)
			require.ErrorContains(t, err, x.text)
			require.Zero(t, released, "the memory stays the caller's")
		})
	}
}

func TestFromOffsetsRawBytes(t *testing.T) {
	c, err := FromOffsets([]uint32{0, 2, 3}, []byte("\xff日"), WithRawBytes())
	require.NoError(t, err)
	requireRows(t, modelOf("\xff\xe6", "\x97"), c)
}

func TestFromOffsetsWithoutRows(t *testing.T) {
	for _, offsets := range [][]uint32{nil, {}, {0}, {3}} {
		c, err := FromOffsets(offsets, []byte("abc"))
		require.NoError(t, err)
		requireRows(t, model{}, c)
	}
}

func TestWithReleaseRunsOnce(t *testing.T) {
	for name, x := range map[string]struct {
		payload string
		offsets []uint32
		valid   []byte
		atOnce  bool
	}{
		"one buffer":       {"longer than twelve", []uint32{0, 18}, nil, false},
		"several buffers":  {strings.Repeat("x", 60), []uint32{0, 15, 30, 45, 60}, []byte{0b1011}, false},
		"only validity":    {"ab", []uint32{0, 1, 2}, []byte{0b10}, false},
		"nothing borrowed": {"ab", []uint32{0, 1, 2}, nil, true},
		"no rows":          {"", []uint32{0}, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			released := 0
			c, err := FromOffsets(x.offsets, []byte(x.payload), WithMaxBuffer(15+MaxInline),
				WithValidity(x.valid, 0), WithRelease(func() { released++ }))
			require.NoError(t, err)
			if x.atOnce {
				require.Equal(t, 1, released)
				return
			}
			require.Zero(t, released)
			part, err := c.Slice(0, 1)
			require.NoError(t, err)
			c.Release()
			require.Zero(t, released)
			part.Release()
			require.Equal(t, 1, released)
		})
	}
}

func TestFromViewsOfAColumn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, m := drawColumn(t)
		d, err := FromViews(c.views, c.Buffers(), WithValidity(c.Validity(), 0))
		require.NoError(t, err)
		requireRows(t, m, d)
	})
	released := 0
	c, err := FromViews(make([]StringView16, 3), nil, WithRelease(func() { released++ }))
	require.NoError(t, err)
	require.Zero(t, released)
	c.Release()
	require.Equal(t, 1, released)

	_, err = FromViews(nil, []*Buffer{NewBuffer(make([]byte, 16), nil)}, WithMaxBuffer(15))
	require.ErrorIs(t, err, ErrInvalid)
	require.ErrorContains(t, err, "buffer 0 has 16 bytes, the limit is 15")
	_, err = FromViews(nil, []*Buffer{NewBuffer(nil, nil), nil})
	require.ErrorIs(t, err, ErrInvalid)
	require.ErrorContains(t, err, "buffer 1 is nil")
}
