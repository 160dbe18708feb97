package sample

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/rosaline-go/rosaline/pipeline"
)

// The odd sample is named wherever it stands, also as the first.
func TestMisfitNamesTheOddOne(t *testing.T) {
	x, y := Vector(make([]float32, 16)), Vector([]int64{1})
	odd := map[string]struct {
		sample Sample
		text   string
	}{
		"shape":      {New(Field{"x", Vector(make([]float32, 8))}, Field{"y", y}), `field "x" is f32[8], most others have f32[16]; filter, crop, or use PaddedCollate or RaggedCollate`},
		"rank":       {New(Field{"x", must(x.Reshape(4, 4))}, Field{"y", y}), `field "x" is f32[4 4], most others have f32[16]`},
		"dtype":      {New(Field{"x", x}, Field{"y", Vector([]int32{1})}), `field "y" is i32[1], most others have i64[1]`},
		"missing":    {New(Field{"x", x}), `field "y" is missing, most others have i64[1]`},
		"additional": {New(Field{"x", x}, Field{"y", y}, Field{"z", y}), `field "z" is i64[1], most others have no such field`},
		"renamed":    {New(Field{"x", x}, Field{"Y", y}), `most others have`},
		"reordered":  {New(Field{"y", y}, Field{"x", Vector(make([]float32, 15))}), `field "x" is f32[15], most others have f32[16]`},
		"no fields":  {Sample{}, `field "x" is missing, most others have f32[16]`},
		"no tensor":  {New(Field{"x", Tensor{}}, Field{"y", y}), `field "x" has no tensor`},
		"zero":       {New(Field{"x", Vector([]float32{})}, Field{"y", y}), `field "x" is f32[0], most others have f32[16]`},
	}
	for name, c := range odd {
		for at := range 5 {
			batch := pairs(5)
			batch[at] = c.sample
			b, err := DefaultCollate(batch)
			var item *pipeline.ItemError
			require.ErrorAs(t, err, &item, name)
			require.ErrorIs(t, err, ErrCollate, name)
			require.Equal(t, at, item.Item, "%s: %v", name, err)
			require.ErrorContains(t, err, c.text, name)
			require.Zero(t, b.Len())
		}
	}
}

func TestMisfitOfManyFields(t *testing.T) {
	var fields []Field
	for j := range 200 {
		fields = append(fields, Field{fmt.Sprint("f", j), Scalar(int8(1))})
	}
	sound := New(fields...)
	fields[0], fields[150] = fields[150], Field{"other", Scalar(int8(1))}
	_, err := DefaultCollate([]Sample{sound, New(fields...), sound})
	var item *pipeline.ItemError
	require.ErrorAs(t, err, &item)
	require.Equal(t, 1, item.Item)
	require.ErrorContains(t, err, `field "f0" is missing`)
}

func TestMisfitOfManyDimensions(t *testing.T) {
	x := New(Field{"x", must(NewTensor([]int8{1, 2}, 1, 1, 1, 1, 2))})
	y := New(Field{"x", must(NewTensor([]int8{1, 2}, 1, 1, 1, 2, 1))})
	_, err := DefaultCollate([]Sample{x, x, y})
	require.ErrorContains(t, err, `item 2 of the batch: sample: collate: field "x" is i8[1 1 1 2 1], most others have i8[1 1 1 1 2]`)
}

// Without a majority the first sample is the measure.
func TestMisfitOfTwo(t *testing.T) {
	for _, batch := range [][]Sample{
		{New(Field{"x", Scalar(int8(1))}), New(Field{"x", Scalar(int16(1))})},
		{New(Field{"x", Scalar(int8(1))}), {}},
		{{}, New(Field{"x", Scalar(int8(1))})},
	} {
		_, err := DefaultCollate(batch)
		var item *pipeline.ItemError
		require.ErrorAs(t, err, &item)
		require.Equal(t, 1, item.Item)
	}
}

// Two that are odd in different fields do not outvote the sound one.
func TestMisfitByField(t *testing.T) {
	a, b := Scalar(int8(1)), Scalar(int16(2))
	batch := []Sample{
		New(Field{"p", a}, Field{"q", b}),
		New(Field{"p", b}, Field{"q", b}),
		New(Field{"p", a}, Field{"q", a}),
	}
	var named []Sample
	for {
		_, err := DefaultCollate(batch)
		if err == nil {
			break
		}
		var item *pipeline.ItemError
		require.ErrorAs(t, err, &item)
		named = append(named, batch[item.Item])
		batch = slices.Delete(batch, item.Item, item.Item+1)
	}
	require.Len(t, batch, 1)
	require.Equal(t, "{p: i8[], q: i16[]}", batch[0].String())
	require.Equal(t, "{p: i16[], q: i16[]}", named[0].String())
}

// The first odd sample is named, not that of the first field.
func TestMisfitNamesTheFirst(t *testing.T) {
	batch := pairs(5)
	batch[3] = batch[3].With("x", Scalar(int8(1)))
	batch[1] = batch[1].With("y", Scalar(int8(1)))
	batch[4] = Sample{}
	_, err := DefaultCollate(batch)
	require.ErrorContains(t, err, `item 1 of the batch: sample: collate: field "y" is i8[]`)
}

func TestMisfitAllInvalid(t *testing.T) {
	for name, collate := range allCollates(t) {
		_, err := collate([]Sample{New(Field{"x", Tensor{}})})
		var item *pipeline.ItemError
		require.ErrorAs(t, err, &item, name)
		require.Equal(t, 0, item.Item, name)
	}
}

// Leaving out the named sample again and again ends with a batch of samples that are
// alike, and never takes one of a majority that agrees in all.
func TestMisfitProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 9).Draw(t, "n")
		var batch []Sample
		sound := 0
		for range n {
			var s Sample
			odd := rapid.IntRange(0, 2).Draw(t, "odd") == 0
			for j := range 3 {
				x := Vector(make([]int8, 2))
				if odd {
					x = Vector(make([]int8, rapid.IntRange(1, 4).Draw(t, "length")))
				}
				s = s.With(fmt.Sprint(j), x)
			}
			if s.String() == "{0: i8[2], 1: i8[2], 2: i8[2]}" {
				sound++
			}
			batch = append(batch, s)
		}
		for {
			_, err := DefaultCollate(batch)
			if err == nil {
				break
			}
			var item *pipeline.ItemError
			require.ErrorAs(t, err, &item)
			batch = slices.Delete(batch, item.Item, item.Item+1)
		}
		require.NotEmpty(t, batch)
		for _, s := range batch {
			require.Equal(t, batch[0].String(), s.String())
		}
		if sound > n/2 {
			require.Len(t, batch, sound)
			require.Equal(t, "{0: i8[2], 1: i8[2], 2: i8[2]}", batch[0].String())
		}
	})
}
