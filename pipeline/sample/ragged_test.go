package sample

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/rosaline-go/rosaline/pipeline"
)

func ragged(t require.TestingT, opts ...RaggedOption) CollateFunc {
	collate, err := RaggedCollate(opts...)
	require.NoError(t, err)
	return collate
}

func TestRaggedCollate(t *testing.T) {
	b, err := ragged(t)([]Sample{tokens(1, 2, 3), tokens(), tokens(4)})
	require.NoError(t, err)
	require.Equal(t, "{tokens: i32[4], tokens_offsets: u32[4], label: i64[3]}", b.String())
	require.Equal(t, []int32{1, 2, 3, 4}, values[int32](t, b, "tokens"))
	require.Equal(t, []uint32{0, 3, 3, 4}, values[uint32](t, b, "tokens_offsets"))
	require.Equal(t, []int64{3, 0, 1}, values[int64](t, b, "label"))
	require.Equal(t, []Meta{{Index: 3}, {Index: 0}, {Index: 1}}, b.Metas())
}

func TestRaggedCollateFields(t *testing.T) {
	s := New(Field{"a", Vector([]int8{1})}, Field{"b", Vector([]int8{2})})
	b, err := ragged(t, WithFields("b"))([]Sample{s, s.With("b", Vector([]int8{3, 4}))})
	require.NoError(t, err)
	require.Equal(t, "{a: i8[2 1], b: i8[3], b_offsets: u32[3]}", b.String())
}

func TestRaggedCollateOfNothing(t *testing.T) {
	b, err := ragged(t)([]Sample{tokens(), tokens()})
	require.NoError(t, err)
	require.Equal(t, "{tokens: i32[0], tokens_offsets: u32[3], label: i64[2]}", b.String())
	require.Equal(t, []uint32{0, 0, 0}, values[uint32](t, b, "tokens_offsets"))
	b, err = ragged(t)([]Sample{{}, {}})
	require.NoError(t, err)
	require.Zero(t, b.Len())
	require.Len(t, b.Metas(), 2)
}

func TestRaggedCollateBatchesOfAnySize(t *testing.T) {
	b0, b1 := must(DefaultCollate(pairs(1))), must(DefaultCollate(pairs(4)[1:]))
	b, err := ragged(t)([]Sample{b0, b1})
	require.NoError(t, err)
	require.Len(t, b.Metas(), 4)
	require.Equal(t, []int64{0, 1, 2, 3}, values[int64](t, b, "y"))
}

func TestRaggedCollateOffsetLimit(t *testing.T) {
	batch := []Sample{tokens(1, 2, 3), tokens(4, 5)}
	_, err := ragged(t, WithMaxOffset(5))(batch)
	require.NoError(t, err)
	_, err = ragged(t, WithMaxOffset(4))(batch)
	require.ErrorIs(t, err, ErrOffsetOverflow)
	require.ErrorIs(t, err, ErrCollate)
	require.ErrorContains(t, err, `field "tokens"`)
	var item *pipeline.ItemError
	require.False(t, errors.As(err, &item))

	// 2³² rows of nothing need no memory, and no offset can count them.
	wide := New(Field{"x", must(NewTensor([]int8{}, 1<<30, 0))})
	three := []Sample{wide, wide, wide}
	collate := ragged(t)
	if ^uint(0)>>32 == 0 { // there are no 2³¹ rows of anything
		_, err = collate(three)
		require.ErrorIs(t, err, ErrOffsetOverflow)
		return
	}
	b, err := collate(three)
	require.NoError(t, err)
	require.Equal(t, []uint32{0, 1 << 30, 2 << 30, 3 << 30}, values[uint32](t, b, "x_offsets"))
	_, err = collate(append(three, wide))
	require.ErrorIs(t, err, ErrOffsetOverflow)
}

func TestRaggedCollateSizeLimit(t *testing.T) {
	batch := []Sample{tokens(1, 2, 3), tokens(4, 5)}
	_, err := ragged(t, WithMaxFieldBytes(20))(batch)
	require.NoError(t, err)
	_, err = ragged(t, WithMaxFieldBytes(19))(batch)
	require.ErrorIs(t, err, ErrShape)
	require.ErrorIs(t, err, ErrCollate)
}

func TestRaggedCollateSizeLimitOfOthers(t *testing.T) {
	batch := []Sample{tokens(1), tokens(2), tokens(3)}
	for _, collate := range []CollateFunc{ragged(t, WithMaxFieldBytes(23)), padded(t, WithMaxFieldBytes(23), WithLengths(false))} {
		_, err := collate(batch)
		require.ErrorIs(t, err, ErrCollate)
		require.ErrorContains(t, err, `field "label"`)
	}
}

func TestRaggedCollateOptions(t *testing.T) {
	for name, o := range map[string]RaggedOption{
		"nil": nil, "bytes": WithMaxFieldBytes(0), "fields": WithFields(), "zero": WithMaxOffset(0), "over": WithMaxOffset(1 << 32),
	} {
		_, err := RaggedCollate(o)
		require.ErrorIs(t, err, ErrOption, name)
	}
}

// The rows between two offsets are those of the item.
func TestRaggedCollateProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		inner := rapid.SliceOfN(rapid.IntRange(0, 3), 0, 5).Draw(t, "inner")
		dtype := DType(rapid.IntRange(int(F16), int(Strings)).Draw(t, "dtype"))
		batch := make([]Sample, rapid.IntRange(1, 6).Draw(t, "n"))
		rows := 0
		for i := range batch {
			shape := append([]int{rapid.IntRange(0, 4).Draw(t, "rows")}, inner...)
			rows += shape[0]
			batch[i] = New(Field{"other", Scalar(int8(1))}, Field{"x", anyTensor(t, dtype, shape)})
			if rapid.Bool().Draw(t, "reorder") {
				batch[i] = New(batch[i].Field(1), batch[i].Field(0))
			}
		}
		b, err := ragged(t)(batch)
		require.NoError(t, err)
		x, _ := b.Get("x")
		require.Equal(t, append([]int{rows}, inner...), x.Shape())
		offsets := values[uint32](t, b, "x_offsets")
		require.Len(t, offsets, len(batch)+1)
		require.Zero(t, offsets[0])
		for i, s := range batch {
			want, _ := s.Get("x")
			got, err := x.Slice(int(offsets[i]), int(offsets[i+1]))
			require.NoError(t, err)
			require.True(t, want.Equal(got), "item %d", i)
		}
	})
}

// For bytes that is the layout in which a device takes a column of strings.
func TestRaggedCollateIsTheDeviceLayout(t *testing.T) {
	rows := []string{"first", "", strings.Repeat("long ", 9)}
	var batch []Sample
	for _, r := range rows {
		batch = append(batch, New(Field{"x", NewBytes([]byte(r))}))
	}
	b, err := ragged(t)(batch)
	require.NoError(t, err)
	offsets, payload, err := must(texts(rows, 3).Strings()).GPUBuffers()
	require.NoError(t, err)
	require.Equal(t, offsets, values[uint32](t, b, "x_offsets"))
	require.Equal(t, payload, values[uint8](t, b, "x"))
}
