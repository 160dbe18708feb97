package sample

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/rosaline-go/rosaline/pipeline"
)

func padded(t require.TestingT, opts ...PaddedOption) CollateFunc {
	collate, err := PaddedCollate(opts...)
	require.NoError(t, err)
	return collate
}

// tokens returns a sample of a list and a label.
func tokens(list ...int32) Sample {
	return New(Field{"tokens", Vector(list)}, Field{"label", Scalar(int64(len(list)))}).WithMeta(Meta{Index: int64(len(list))})
}

func values[E Element](t require.TestingT, s Sample, name string) []E {
	x, ok := s.Get(name)
	require.True(t, ok, "no field %q in %v", name, s)
	v, err := View[E](x)
	require.NoError(t, err)
	return v
}

func TestPaddedCollate(t *testing.T) {
	batch := []Sample{tokens(1, 2, 3), tokens(4), tokens(), tokens(5, 6)}
	b, err := padded(t, WithMask(true))(batch)
	require.NoError(t, err)
	require.Equal(t, "{tokens: i32[4 3], tokens_length: i64[4], tokens_mask: bool[4 3], label: i64[4]}", b.String())
	require.Equal(t, []int32{1, 2, 3, 4, 0, 0, 0, 0, 0, 5, 6, 0}, values[int32](t, b, "tokens"))
	require.Equal(t, []int64{3, 1, 0, 2}, values[int64](t, b, "tokens_length"))
	require.Equal(t, []bool{true, true, true, true, false, false, false, false, false, true, true, false}, values[bool](t, b, "tokens_mask"))
	require.Equal(t, []int64{3, 1, 0, 2}, values[int64](t, b, "label"))
	require.Equal(t, []Meta{{Index: 3}, {Index: 1}, {Index: 0}, {Index: 2}}, b.Metas())
}

func TestPaddedCollateLengthRules(t *testing.T) {
	batch := []Sample{tokens(1, 2, 3), tokens(4)}
	for _, c := range []struct {
		name    string
		opts    []PaddedOption
		tokens  []int32
		lengths []int64
	}{
		{"to a length", []PaddedOption{WithPadTo(4)}, []int32{1, 2, 3, 0, 4, 0, 0, 0}, []int64{3, 1}},
		{"to the longest", []PaddedOption{WithPadTo(3)}, []int32{1, 2, 3, 4, 0, 0}, []int64{3, 1}},
		{"a multiple", []PaddedOption{WithMultipleOf(4)}, []int32{1, 2, 3, 0, 4, 0, 0, 0}, []int64{3, 1}},
		{"a multiple already", []PaddedOption{WithMultipleOf(3)}, []int32{1, 2, 3, 4, 0, 0}, []int64{3, 1}},
		{"cut", []PaddedOption{WithTruncate(2)}, []int32{1, 2, 4, 0}, []int64{2, 1}},
		{"cut longer than all", []PaddedOption{WithTruncate(5)}, []int32{1, 2, 3, 4, 0, 0}, []int64{3, 1}},
		{"cut to a length", []PaddedOption{WithTruncate(2), WithPadTo(2)}, []int32{1, 2, 4, 0}, []int64{2, 1}},
		{"cut, then a multiple", []PaddedOption{WithTruncate(1), WithMultipleOf(2)}, []int32{1, 0, 4, 0}, []int64{1, 1}},
		{"a value", []PaddedOption{WithPadValue(-100)}, []int32{1, 2, 3, 4, -100, -100}, []int64{3, 1}},
		{"a value of the field", []PaddedOption{WithPadValue(7, "tokens"), WithPadValue(8)}, []int32{1, 2, 3, 4, 7, 7}, []int64{3, 1}},
		{"a value of another", []PaddedOption{WithPadValue(7, "label"), WithPadValue(8)}, []int32{1, 2, 3, 4, 8, 8}, []int64{3, 1}},
		{"named", []PaddedOption{WithFields("tokens")}, []int32{1, 2, 3, 4, 0, 0}, []int64{3, 1}},
	} {
		b, err := padded(t, c.opts...)(batch)
		require.NoError(t, err, c.name)
		require.Equal(t, c.tokens, values[int32](t, b, "tokens"), c.name)
		require.Equal(t, c.lengths, values[int64](t, b, "tokens_length"), c.name)
	}
	b, err := padded(t, WithLengths(false))(batch)
	require.NoError(t, err)
	require.Equal(t, "{tokens: i32[2 3], label: i64[2]}", b.String())
}

func TestPaddedCollateTooLong(t *testing.T) {
	_, err := padded(t, WithPadTo(2))([]Sample{tokens(1), tokens(1, 2), tokens(1, 2, 3)})
	var item *pipeline.ItemError
	require.ErrorAs(t, err, &item)
	require.Equal(t, 2, item.Item)
	require.ErrorIs(t, err, ErrCollate)
	require.ErrorContains(t, err, `field "tokens" is i32[3], longer than WithPadTo(2)`)
}

func TestPaddedCollateMisfit(t *testing.T) {
	grid := func(dtype DType, shape ...int) Sample {
		n := dtype.Size()
		for _, d := range shape {
			n *= d
		}
		return New(Field{"x", must(FromBytes(dtype, make([]byte, n), shape...))})
	}
	for _, odd := range []Sample{grid(F32, 3, 4), grid(F64, 3, 2), grid(F32, 3), grid(F32, 3, 2, 1), {}} {
		for at := range 4 {
			batch := []Sample{grid(F32, 3, 2), grid(F32, 0, 2), grid(F32, 5, 2), grid(F32, 1, 2)}
			batch[at] = odd
			for _, collate := range []CollateFunc{padded(t), ragged(t)} {
				_, err := collate(batch)
				var item *pipeline.ItemError
				require.ErrorAs(t, err, &item, "%v", odd)
				require.Equal(t, at, item.Item, "%v", odd)
				require.ErrorContains(t, err, "f32[* 2]")
			}
		}
	}
}

func TestPaddedCollateStrings(t *testing.T) {
	long := strings.Repeat("payload ", 5)
	words := func(w ...string) Sample { return New(Field{"w", texts(w, len(w))}) }
	b, err := padded(t, WithPadValue(3))([]Sample{words("a", long), words(), words("c")})
	require.NoError(t, err)
	w, _ := b.Get("w")
	require.Equal(t, "strings[3 2]", w.String())
	require.Equal(t, []string{"a", long, "", "", "c", ""}, must(w.Strings()).Strings())
	require.Equal(t, []int64{2, 0, 1}, values[int64](t, b, "w_length"))
}

func TestPaddedCollateFields(t *testing.T) {
	s := New(Field{"a", Vector([]int8{1})}, Field{"b", Vector([]int8{2})})
	b, err := padded(t, WithFields("b"))([]Sample{s, s.With("b", Vector([]int8{3, 4}))})
	require.NoError(t, err)
	require.Equal(t, "{a: i8[2 1], b: i8[2 2], b_length: i64[2]}", b.String())

	_, err = padded(t, WithFields("b"))([]Sample{s, s.With("a", Vector([]int8{3, 4}))})
	var item *pipeline.ItemError
	require.ErrorAs(t, err, &item)

	for _, collate := range []CollateFunc{padded(t, WithFields("b", "c")), ragged(t, WithFields("c", "b"))} {
		_, err = collate([]Sample{s, s})
		require.ErrorIs(t, err, ErrCollate)
		require.ErrorContains(t, err, `no field "c"`)
	}
	scalar := New(Field{"a", Scalar(int8(1))})
	for _, collate := range []CollateFunc{padded(t, WithFields("a")), ragged(t, WithFields("a"))} {
		_, err = collate([]Sample{scalar, scalar})
		require.ErrorIs(t, err, ErrCollate)
		require.ErrorContains(t, err, `field "a" is i8[], which has no dimension 0`)
	}
}

func TestPaddedCollateNameTaken(t *testing.T) {
	s := tokens(1, 2).With("tokens_length", Scalar(int8(1)))
	_, err := padded(t)([]Sample{s, s})
	require.ErrorIs(t, err, ErrCollate)
	require.ErrorContains(t, err, `"tokens_length"`)
	_, err = padded(t, WithLengths(false))([]Sample{s, s})
	require.NoError(t, err)
	_, err = ragged(t)([]Sample{s.With("tokens_offsets", Scalar(int8(1)))})
	require.ErrorContains(t, err, `"tokens_offsets"`)
}

func TestPaddedCollateOptions(t *testing.T) {
	for name, opts := range map[string][]PaddedOption{
		"nil":                  {nil},
		"bytes":                {WithMaxFieldBytes(0)},
		"no fields":            {WithFields()},
		"no dims":              {WithPadDims()},
		"negative dim":         {WithPadDims(-1)},
		"dim too large":        {WithPadDims(31)},
		"dim twice":            {WithPadDims(1, 0, 1)},
		"pad to":               {WithPadTo(-1)},
		"multiple of nothing":  {WithMultipleOf(0)},
		"truncate":             {WithTruncate(-1)},
		"to and multiple":      {WithPadTo(8), WithMultipleOf(4)},
		"cut longer than room": {WithPadTo(8), WithTruncate(9)},
		"value of another":     {WithFields("a"), WithPadValue(1, "b")},
	} {
		_, err := PaddedCollate(opts...)
		require.ErrorIs(t, err, ErrOption, name)
	}
	if math.MaxInt > math.MaxInt32 {
		large := math.MaxInt32
		large++
		for _, o := range []PaddedOption{WithPadTo(large), WithMultipleOf(large), WithTruncate(large)} {
			_, err := PaddedCollate(o)
			require.ErrorIs(t, err, ErrOption)
		}
	}
}

func TestPaddedCollateLimits(t *testing.T) {
	batch := []Sample{tokens(1, 2, 3), tokens(4)}
	_, err := padded(t, WithMaxFieldBytes(2*3*4))(batch)
	require.NoError(t, err)
	for name, collate := range map[string]CollateFunc{
		"bytes":    padded(t, WithMaxFieldBytes(2*3*4-1)),
		"pad to":   padded(t, WithPadTo(math.MaxInt32)),
		"multiple": padded(t, WithMultipleOf(math.MaxInt32)),
	} {
		_, err := collate(batch)
		require.ErrorIs(t, err, ErrCollate, name)
		require.ErrorIs(t, err, ErrShape, name)
		var item *pipeline.ItemError
		require.False(t, errors.As(err, &item), name)
	}
	// The mask is larger than values that have no elements.
	thin := New(Field{"x", must(NewTensor([]int8{}, 100, 0))})
	_, err = padded(t, WithMaxFieldBytes(150), WithMask(true))([]Sample{thin, thin})
	require.ErrorIs(t, err, ErrCollate)
	huge := New(Field{"x", must(NewTensor([]int8{}, math.MaxInt, 0))})
	_, err = padded(t, WithMultipleOf(2))([]Sample{huge, huge})
	require.ErrorIs(t, err, ErrCollate)
	require.ErrorContains(t, err, "cannot be rounded up to a multiple of 2")
	for _, collate := range []CollateFunc{padded(t, WithMask(true)), ragged(t)} {
		_, err = collate([]Sample{huge, huge})
		require.ErrorIs(t, err, ErrCollate)
	}
	for _, collate := range []CollateFunc{padded(t), ragged(t)} {
		_, err = collate(nil)
		require.ErrorIs(t, err, ErrCollate)
	}
}

// Every element of a padded batch is that of the item at the same place, or padding:
// found one by one from the places.
func TestPaddedCollateProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rank := rapid.IntRange(1, 5).Draw(t, "rank")
		dims := rapid.SliceOfNDistinct(rapid.IntRange(0, rank-1), 1, rank, rapid.ID[int]).Draw(t, "dims")
		common := rapid.SliceOfN(rapid.IntRange(0, 3), rank, rank).Draw(t, "common")
		asStrings := rapid.Bool().Draw(t, "strings")
		cut := rapid.IntRange(0, 3).Draw(t, "cut")
		multiple := rapid.IntRange(1, 3).Draw(t, "multiple")
		batch := make([]Sample, rapid.IntRange(1, 4).Draw(t, "n"))
		shapes := make([][]int, len(batch))
		next := uint32(1)
		for i := range batch {
			shape := slices.Clone(common)
			for _, d := range dims {
				shape[d] = rapid.IntRange(0, 4).Draw(t, "length")
			}
			n := 1
			for _, d := range shape {
				n *= d
			}
			flat, words := make([]uint32, n), make([]string, n)
			for k := range flat {
				flat[k] = next
				words[k] = strings.Repeat("w", int(next))
				next++
			}
			x := must(NewTensor(flat, shape...))
			if asStrings {
				x = texts(words, shape...)
			}
			batch[i], shapes[i] = New(Field{"x", x}), shape
		}
		b, err := padded(t, WithPadDims(dims...), WithTruncate(cut), WithMultipleOf(multiple), WithPadValue(77), WithMask(true))(batch)
		require.NoError(t, err)

		lengths := make([][]int, len(batch)) // of each padded dimension, after the cut
		want := append([]int{len(batch)}, common...)
		for k, d := range dims {
			longest := 0
			for i, s := range shapes {
				l := s[d]
				if cut > 0 && l > cut {
					l = cut
				}
				lengths[i] = append(lengths[i], l)
				longest = max(longest, l)
			}
			for longest%multiple != 0 {
				longest++
			}
			want[1+dims[k]] = longest
		}
		x, _ := b.Get("x")
		require.Equal(t, want, x.Shape())
		var flat []uint32
		if asStrings {
			for _, w := range must(x.Strings()).Strings() {
				flat = append(flat, uint32(len(w)))
			}
		} else {
			flat = values[uint32](t, b, "x")
		}
		pad := uint32(77)
		if asStrings {
			pad = 0
		}
		index := make([]int, len(want))
		for _, got := range flat {
			i := index[0]
			expect := pad
			inside, offset := true, 0
			for d := range rank {
				at := index[1+d]
				inside = inside && at < shapes[i][d]
				if k := slices.Index(dims, d); k >= 0 {
					inside = inside && at < lengths[i][k]
				}
				offset = offset*shapes[i][d] + at
			}
			if inside {
				expect = 1
				for _, s := range shapes[:i] {
					n := 1
					for _, d := range s {
						n *= d
					}
					expect += uint32(n)
				}
				expect += uint32(offset)
			}
			require.Equal(t, expect, got, "at %v", index)
			for d := len(index) - 1; d >= 0; d-- {
				if index[d]++; index[d] < want[d] {
					break
				}
				index[d] = 0
			}
		}

		var allLengths []int64
		for _, l := range lengths {
			for _, v := range l {
				allLengths = append(allLengths, int64(v))
			}
		}
		require.Equal(t, allLengths, values[int64](t, b, "x_length"))
		mask, _ := b.Get("x_mask")
		maskShape := []int{len(batch)}
		for _, d := range dims {
			maskShape = append(maskShape, want[1+d])
		}
		require.Equal(t, maskShape, mask.Shape())
		index = make([]int, len(maskShape))
		for _, got := range values[bool](t, b, "x_mask") {
			expect := true
			for k, l := range lengths[index[0]] {
				expect = expect && index[1+k] < l
			}
			require.Equal(t, expect, got, "mask at %v", index)
			for d := len(index) - 1; d >= 0; d-- {
				if index[d]++; index[d] < maskShape[d] {
					break
				}
				index[d] = 0
			}
		}
	})
}
