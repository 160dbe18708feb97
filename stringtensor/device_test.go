package stringtensor

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/rosaline-go/rosaline/internal/lineartime"
)

// layout is the device layout of m, by definition.
func (m model) layout() (offsets []uint32, payload []byte) {
	offsets = []uint32{0}
	for i := range m {
		s, _ := m.get(i)
		payload = append(payload, s...)
		offsets = append(offsets, uint32(len(payload)))
	}
	return offsets, payload
}

func TestGPUBuffersAgreeWithModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, m := drawColumn(t)
		wantOffsets, wantPayload := m.layout()
		n, size := c.GPUSize()
		require.Equal(t, len(wantOffsets), n)
		require.Equal(t, int64(len(wantPayload)), size)

		offsets, payload, err := c.GPUBuffers()
		require.NoError(t, err)
		require.Equal(t, wantOffsets, offsets)
		require.Equal(t, string(wantPayload), string(payload))

		// In memory with room to spare, nothing beyond the part is written.
		spare := rapid.IntRange(0, 100).Draw(t, "spare")
		o, p := make([]uint32, n+spare), bytes.Repeat([]byte{0xA5}, int(size)+spare)
		for i := range o {
			o[i] = 0xA5A5A5A5
		}
		offsets, payload, err = c.GPUBuffersInto(o, p)
		require.NoError(t, err)
		require.Equal(t, wantOffsets, offsets)
		require.Equal(t, string(wantPayload), string(payload))
		require.Same(t, &o[0], &offsets[0])
		for i := range spare {
			require.Equal(t, uint32(0xA5A5A5A5), o[n+i])
			require.Equal(t, byte(0xA5), p[int(size)+i])
		}

		back, err := FromGPUBuffers(offsets, payload, WithValidity(c.Validity(), 0))
		require.NoError(t, err)
		require.True(t, c.Equal(back))
	})
}

// Rows of every length around the sizes that are copied as a block, alone and in
// runs, at the end of the payload and before it.
func TestPackedRowsOfEveryLength(t *testing.T) {
	for n := range 140 {
		rows := modelOf("x", strings.Repeat("abc", n)[:n], strings.Repeat("de", n)[:n], "", strings.Repeat("fgh", n)[:n])
		for k := range rows {
			c := rows[:k+1].build(t, MaxStringLen)
			_, want := rows[:k+1].layout()
			_, payload, err := c.GPUBuffers()
			require.NoError(t, err)
			require.Equal(t, string(want), string(payload))
		}
	}
}

func TestPackedRowsAcrossBuffers(t *testing.T) {
	c, m := acrossBuffers()
	_, want := m.layout()
	_, payload, err := c.GPUBuffers()
	require.NoError(t, err)
	require.Equal(t, string(want), string(payload))
	require.Equal(t, string(want), string(bytes.Join([][]byte{c.Compact().Bytes(0), c.Compact().Bytes(1)}, nil)))
}

func TestGPUBuffersWithoutPayload(t *testing.T) {
	empty := ""
	for name, m := range map[string]model{
		"no rows":   {},
		"all empty": {&empty, &empty},
		"all null":  {nil, nil, nil},
	} {
		c := m.build(t, MaxStringLen)
		offsets, payload, err := c.GPUBuffers()
		require.NoError(t, err, name)
		require.Equal(t, make([]uint32, len(m)+1), offsets, name)
		require.NotNil(t, payload, name)
		require.Empty(t, payload, name)

		offsets, payload, err = c.GPUBuffersInto(make([]uint32, len(m)+1), nil)
		require.NoError(t, err, name)
		require.Equal(t, make([]uint32, len(m)+1), offsets, name)
		require.Empty(t, payload, name)

		back, err := FromGPUBuffers(offsets, payload, WithValidity(c.Validity(), 0))
		require.NoError(t, err, name)
		requireRows(t, m, back)

		parts, err := c.Split(1)
		require.NoError(t, err, name)
		require.Len(t, parts, 1, name)
		requireRows(t, m, parts[0])

		requireRows(t, m, c.Compact())
		require.True(t, c.Equal(back), name)
		require.Equal(t, c.NullCount(), len(c.WhereNull()), name)
		joined, err := Concat(c, c)
		require.NoError(t, err, name)
		requireRows(t, append(append(model{}, m...), m...), joined)
	}
}

func TestOffsetOverflow(t *testing.T) {
	c := modelOf("inline", "long enough for a buffer").build(t, MaxStringLen)
	for limit, fails := range map[int64]bool{-1: true, 15: true, 29: true, 30: false, 1 << 40: false} {
		_, _, err := c.GPUBuffers(WithMaxPayload(limit))
		offsets, payload := []uint32{7, 7, 7}, bytes.Repeat([]byte{7}, 30)
		_, _, err2 := c.GPUBuffersInto(offsets, payload, WithMaxPayload(limit))
		if !fails {
			require.NoError(t, err)
			require.NoError(t, err2)
			continue
		}
		require.ErrorIs(t, err, ErrOffsetOverflow)
		require.ErrorIs(t, err2, ErrOffsetOverflow)
		require.Equal(t, []uint32{7, 7, 7}, offsets, "nothing is written")
		require.Equal(t, bytes.Repeat([]byte{7}, 30), payload)
	}

	// The limit without an option, by views of rows that nobody reads: three of
	// 2³¹−1 bytes are too many, two and one byte are not more than 2³²−1.
	row := StringView16{lo: MaxStringLen}
	one, _ := InlineView([]byte("1"))
	two, _ := InlineView([]byte("22"))
	_, size := (&Column{views: []StringView16{row, row, one}}).GPUSize()
	require.Equal(t, int64(1<<32-1), size)
	_, _, err := (&Column{views: []StringView16{row, row, two}}).GPUBuffers()
	require.ErrorIs(t, err, ErrOffsetOverflow)
	require.ErrorContains(t, err, "4294967296 bytes")

	parts, err := (&Column{views: []StringView16{row, row, one, two, row}}).Split(0)
	require.NoError(t, err)
	require.Len(t, parts, 2)
	require.Equal(t, 3, parts[0].Len())
}

// TestGPUBuffersBeyondMemory: rows that share bytes may add up to more than a Go
// slice can hold where int has 32 bits.
func TestGPUBuffersBeyondMemory(t *testing.T) {
	if math.MaxInt > math.MaxInt32 {
		t.Skip("every payload up to the limit fits an int of 64 bits")
	}
	one, err := FromStrings([]string{strings.Repeat("x", 1<<20)})
	require.NoError(t, err)
	c, err := one.Take(make([]uint32, 1<<11))
	require.NoError(t, err)
	_, _, err = c.GPUBuffers()
	require.ErrorIs(t, err, ErrOffsetOverflow)
}

func TestGPUBuffersIntoShortMemory(t *testing.T) {
	c := modelOf("inline", "long enough for a buffer").build(t, MaxStringLen)
	for _, x := range [][2]int{{2, 30}, {3, 29}, {0, 0}} {
		offsets, payload := make([]uint32, x[0]), make([]byte, x[1])
		_, _, err := c.GPUBuffersInto(offsets, payload)
		require.ErrorIs(t, err, ErrShortBuffer)
		require.ErrorContains(t, err, "3 and 30 are needed")
		require.Equal(t, make([]byte, x[1]), payload)
	}
}

func TestGPUBuffersIntoAllocatesNothing(t *testing.T) {
	c := modelOf("inline", "long enough for a buffer", "x", strings.Repeat("long", 40)).build(t, MaxStringLen)
	n, size := c.GPUSize()
	offsets, payload := make([]uint32, n), make([]byte, size)
	require.Zero(t, testing.AllocsPerRun(50, func() {
		if _, _, err := c.GPUBuffersInto(offsets, payload); err != nil {
			panic(err)
		}
	}))
}

func TestSplitAgreesWithModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, m := drawColumn(t)
		limit := rapid.IntRange(1, 80).Draw(t, "limit")
		long := -1
		for i := range m {
			if s, _ := m.get(i); len(s) > limit {
				long = i
				break
			}
		}
		parts, err := c.Split(int64(limit))
		if long >= 0 {
			require.ErrorIs(t, err, ErrStringTooLong)
			require.Nil(t, parts)
			return
		}
		require.NoError(t, err)
		at := 0
		for k, p := range parts {
			requireRows(t, m[at:at+p.Len()], p)
			require.LessOrEqual(t, p.PayloadBytes(), int64(limit))
			if k+1 < len(parts) {
				require.Greater(t, p.PayloadBytes()+int64(parts[k+1].View(0).Len()), int64(limit), "no more parts than needed")
			}
			at += p.Len()
		}
		require.Equal(t, len(m), at)
	})
}

func TestSplitErrors(t *testing.T) {
	c := modelOf("a", strings.Repeat("b", 16), "c").build(t, MaxStringLen)
	_, err := c.Split(15)
	require.ErrorIs(t, err, ErrStringTooLong)
	require.ErrorContains(t, err, "row 1 has 16 bytes, a part may have 15")
	for _, n := range []int64{-1, 1 << 32} {
		_, err = c.Split(n)
		require.ErrorIs(t, err, ErrOutOfRange)
	}
}

// Whatever the offsets, the answer is an error or the rows they say.
func FuzzFromGPUBuffers(f *testing.F) {
	f.Add([]byte{0, 3, 1, 9}, []byte("abc"))
	f.Add([]byte{0, 9}, []byte(""))
	f.Add([]byte{0, 1}, []byte("\xff"))
	f.Add([]byte{0, 1, 2}, []byte("é"))
	f.Add([]byte{2, 4, 4, 30}, []byte("日本語 and more than twelve bytes"))
	f.Add([]byte{}, []byte(""))
	f.Fuzz(func(t *testing.T, small, payload []byte) {
		// One byte an offset: almost all of the offsets are near the payload's
		// length. 255 stands for the greatest.
		offsets := make([]uint32, len(small))
		for i, b := range small {
			offsets[i] = uint32(b)
			if b == 255 {
				offsets[i] = 1<<32 - 1
			}
		}
		c, err := FromGPUBuffers(offsets, payload, WithMaxBuffer(40))
		valid := true
		for i := range offsets {
			valid = valid && int64(offsets[i]) <= int64(len(payload)) && (i == 0 || offsets[i] >= offsets[i-1])
		}
		var want model
		for i := 0; valid && i+1 < len(offsets); i++ {
			s := string(payload[offsets[i]:offsets[i+1]])
			want = append(want, &s)
			valid = len(s) <= 40 && strings.ToValidUTF8(s, "") == s
		}
		if !valid {
			require.Error(t, err)
			return
		}
		require.NoError(t, err)
		requireRows(t, want, c)
	})
}

// Memory of exactly the size, with more memory before and behind: columns of rows of
// all sizes that were cut, filtered, turned round, and that lie in many buffers.
func TestPackWritesItsOwnMemoryOnly(t *testing.T) {
	var rows []string
	for i := range 3000 {
		rows = append(rows, strings.Repeat("0123456789", 70)[i%7:][:i*7919%640])
	}
	m := modelOf(rows...)
	backwards := make([]uint32, len(m))
	for i := range backwards {
		backwards[i] = uint32(len(m) - 1 - i)
	}
	for _, limit := range []int{700, 40_000, MaxStringLen} {
		c := m.build(t, limit)
		slice, err := c.Slice(5, 2900)
		require.NoError(t, err)
		turned, err := c.Take(backwards)
		require.NoError(t, err)
		joined, err := Concat(slice, turned.Compact())
		require.NoError(t, err)
		short := m.where(func(s string) bool { return len(s) <= 50 })
		filtered, err := c.Filter(short)
		require.NoError(t, err)
		for name, x := range map[string]struct {
			c *Column
			m model
		}{
			"whole":    {c, m},
			"slice":    {slice, m[5:2900]},
			"turned":   {turned, m.take(backwards)},
			"joined":   {joined, append(append(model{}, m[5:2900]...), m.take(backwards)...)},
			"filtered": {filtered, m.take(short)},
		} {
			wantOffsets, wantPayload := x.m.layout()
			const guard = 100
			offsets := make([]uint32, len(wantOffsets)+2*guard)
			payload := bytes.Repeat([]byte{0xA5}, len(wantPayload)+2*guard)
			o, p := offsets[guard:len(offsets)-guard], payload[guard:len(payload)-guard]
			_, _, err := x.c.GPUBuffersInto(o[:len(o):len(o)], p[:len(p):len(p)])
			require.NoError(t, err)
			require.Equal(t, wantOffsets, o, name)
			require.True(t, bytes.Equal(wantPayload, p), name)
			around := append(append([]byte{}, payload[:guard]...), payload[len(payload)-guard:]...)
			require.Equal(t, bytes.Repeat([]byte{0xA5}, 2*guard), around, name)
			require.Equal(t, make([]uint32, 2*guard), append(offsets[:guard:guard], offsets[len(offsets)-guard:]...), name)

			fresh, freshPayload, err := x.c.GPUBuffers()
			require.NoError(t, err)
			require.Equal(t, wantOffsets, fresh, name)
			require.True(t, bytes.Equal(wantPayload, freshPayload), name)
		}
	}
}

// Parts share the buffers of the column, all of them: work on a part must not go
// through those that it does not use. There are n² buffers for n parts, so that it
// would be cubic.
func TestPartsOfManyBuffersAreLinear(t *testing.T) {
	lineartime.Require(t, 24, func(n int) func() {
		c := modelOf(strings.Split(strings.Repeat("a row for a buffer of its own,", n*n), ",")...).build(t, 40)
		require.GreaterOrEqual(t, len(c.Buffers()), n*n)
		parts := make([]*Column, n)
		for i := range parts {
			part, err := c.Slice(i, i+1)
			require.NoError(t, err)
			parts[i] = part
		}
		offsets, payload := make([]uint32, 2), make([]byte, 40)
		return func() {
			for _, p := range parts {
				if _, _, err := p.GPUBuffersInto(offsets, payload); err != nil {
					panic(err)
				}
				if !p.Equal(p) || len(p.WherePrefix("a row")) != 1 {
					panic("wrong")
				}
			}
		}
	})
}
