package stringtensor

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestBuilderAgreesWithModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := modelGen().Draw(t, "model")
		b := NewBuilder(WithMaxBuffer(rapid.SampledFrom([]int{40, 100, MaxStringLen}).Draw(t, "limit")))
		for i := range m {
			if rapid.IntRange(0, 9).Draw(t, "reserve") == 0 {
				b.Reserve(rapid.IntRange(-1, 20).Draw(t, "rows"), rapid.IntRange(-1, 200).Draw(t, "bytes"))
			}
			s, ok := m.get(i)
			switch {
			case !ok:
				b.AppendNull()
			case rapid.Bool().Draw(t, "in place"):
				room, err := b.Room(len(s) + 2)
				require.NoError(t, err)
				copy(room, s+"xx")
				b.AppendRoom(len(s))
			default:
				require.NoError(t, b.Append([]byte(s)))
			}
			require.Equal(t, i+1, b.Len())
		}
		limit := b.maxBuffer()
		c := b.Finish()
		requireRows(t, m, c)
		require.Zero(t, b.Len())
		for _, x := range c.Buffers() {
			require.LessOrEqual(t, x.Len(), limit)
			require.GreaterOrEqual(t, x.Slack(), Slack)
		}

		// The builder is empty and keeps its limit.
		require.NoError(t, b.AppendString("again"))
		requireRows(t, modelOf("again"), b.Finish())
		require.Equal(t, limit, b.maxBuffer())
	})
}

func TestBuilderLimit(t *testing.T) {
	b := NewBuilder(WithMaxBuffer(15))
	b.Reserve(3, 1000) // more than a buffer may have
	require.NoError(t, b.AppendString(strings.Repeat("a", 15)))
	err := b.AppendString(strings.Repeat("b", 16))
	require.ErrorIs(t, err, ErrStringTooLong)
	require.ErrorContains(t, err, "row 1 has 16 bytes, the limit is 15")
	require.Equal(t, 1, b.Len())
	require.NoError(t, b.AppendString("inline"))
	require.NoError(t, b.AppendString(strings.Repeat("c", 13)))
	c := b.Finish()
	requireRows(t, modelOf(strings.Repeat("a", 15), "inline", strings.Repeat("c", 13)), c)
	require.Len(t, c.Buffers(), 2)
}

// A reserve before each append must neither copy all views each time nor start
// a slab each time.
func TestBuilderReserveIsAmortised(t *testing.T) {
	const n = 1 << 14
	b := NewBuilder()
	copies, before := 0, 0
	for range n {
		b.Reserve(1, 20)
		if cap(b.views) != before {
			copies, before = copies+1, cap(b.views)
		}
		require.NoError(t, b.AppendString("longer than 12 bytes"))
	}
	require.Less(t, copies, 100)
	require.Less(t, len(b.Finish().Buffers()), 100)
}

func TestBuilderReservedAppendsAllocateNothing(t *testing.T) {
	const n = 100
	b := NewBuilder()
	row := []byte("longer than twelve bytes")
	b.Reserve(n+1, (n+1)*len(row))
	allocs := testing.AllocsPerRun(n, func() {
		if err := b.Append(row); err != nil {
			t.Error(err)
		}
	})
	require.Zero(t, allocs)
}

func TestFromBytes(t *testing.T) {
	c, err := FromBytes([][]byte{nil, {}, []byte("a"), []byte("\xff longer than twelve")})
	require.NoError(t, err)
	requireRows(t, modelOf("", "", "a", "\xff longer than twelve"), c)
}
