package sample

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/rosaline-go/rosaline/pipeline"
)

func names(s Sample) []string {
	out := []string{}
	for name := range s.All() {
		out = append(out, name)
	}
	return out
}

func TestSampleOrder(t *testing.T) {
	a, b, c := Vector([]int8{1}), Vector([]int8{2}), Vector([]int8{3})
	s := New(Field{"a", a}, Field{"b", b})
	require.Equal(t, 2, s.Len())
	require.Equal(t, []string{"a", "b"}, names(s))

	t.Run("replaced in place", func(t *testing.T) {
		r := s.With("a", c)
		require.Equal(t, []string{"a", "b"}, names(r))
		got, ok := r.Get("a")
		require.True(t, ok)
		require.True(t, got.Equal(c))
		got, _ = s.Get("a")
		require.True(t, got.Equal(a), "the old sample has changed")
	})
	t.Run("new at the end", func(t *testing.T) {
		r := s.With("c", c)
		require.Equal(t, []string{"a", "b", "c"}, names(r))
		require.Equal(t, []string{"a", "b"}, names(s))
	})
	t.Run("removed", func(t *testing.T) {
		r := s.With("c", c)
		require.Equal(t, []string{"a", "c"}, names(r.Without("b")))
		require.Equal(t, []string{"a", "b", "c"}, names(r))
		require.Equal(t, []string{"a", "b"}, names(s.Without("z")))
		_, ok := s.Without("a").Get("a")
		require.False(t, ok)
	})
	t.Run("last of a name wins", func(t *testing.T) {
		r := New(Field{"a", a}, Field{"b", b}, Field{"a", c})
		require.Equal(t, []string{"a", "b"}, names(r))
		require.True(t, r.Field(0).Tensor.Equal(c))
	})
	t.Run("of its own memory", func(t *testing.T) {
		fields := []Field{{"a", a}, {"b", b}}
		r := New(fields...)
		fields[0].Name = "z"
		require.Equal(t, []string{"a", "b"}, names(r))
	})
}

// Two samples made of one do not see each other's fields.
func TestSampleWithDoesNotShareRoom(t *testing.T) {
	s := Sample{}.With("a", Scalar(int8(0)))
	for i := range 10 {
		x := s.With("x", Scalar(int8(1)))
		y := s.With("y", Scalar(int8(2)))
		require.Equal(t, s.Len()+1, x.Len())
		_, ok := x.Get("y")
		require.False(t, ok)
		_, ok = y.Get("y")
		require.True(t, ok)
		s = s.With(fmt.Sprint(i), Scalar(int8(3)))
	}
}

// A sample behaves like a list of pairs that is searched from the front.
func TestSampleModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type pair struct {
			name  string
			value int32
		}
		name := rapid.StringMatching(`[a-d][a-z]?`)
		var model []pair
		set := func(model []pair, p pair) []pair {
			for i := range model {
				if model[i].name == p.name {
					model[i].value = p.value
					return model
				}
			}
			return append(model, p)
		}
		var fields []Field
		for i := range rapid.IntRange(0, 40).Draw(t, "fields") {
			p := pair{name.Draw(t, "name"), int32(i)}
			fields = append(fields, Field{p.name, Scalar(p.value)})
			model = set(model, p)
		}
		s := New(fields...)
		for i := range 20 {
			p := pair{name.Draw(t, "name"), int32(100 + i)}
			if rapid.Bool().Draw(t, "with") {
				s, model = s.With(p.name, Scalar(p.value)), set(model, p)
			} else {
				s = s.Without(p.name)
				model = slices.DeleteFunc(model, func(q pair) bool { return q.name == p.name })
			}
			var got []pair
			for n, x := range s.All() {
				got = append(got, pair{n, must(View[int32](x))[0]})
			}
			require.Equal(t, append([]pair(nil), model...), got)
			_, ok := s.Get(p.name)
			require.Equal(t, slices.ContainsFunc(model, func(q pair) bool { return q.name == p.name }), ok)
		}
	})
}

func TestSampleMeta(t *testing.T) {
	m := Meta{Source: "a.jsonl", Index: 7}
	s := New(Field{"a", Scalar(int8(1))}).WithMeta(m)
	require.Equal(t, m, s.Meta())
	require.Equal(t, m, s.With("b", Scalar(int8(2))).Meta())
	require.Equal(t, m, s.Without("a").Meta())
	require.Nil(t, s.Metas())
	p := s.AsPadding()
	require.Equal(t, Meta{Source: "a.jsonl", Index: 7, Padded: true}, p.Meta())
	require.False(t, s.Meta().Padded)

	batch := must(DefaultCollate([]Sample{s, s}))
	padded := batch.AsPadding()
	require.Equal(t, []Meta{p.Meta(), p.Meta()}, padded.Metas())
	require.Equal(t, []Meta{m, m}, batch.Metas(), "the old batch has changed")
}

func TestSampleSize(t *testing.T) {
	require.Zero(t, Sample{}.Size())
	s := New(Field{"x", Vector(make([]float32, 16))}, Field{"y", Scalar(int64(1))}, Field{"t", texts([]string{"abc"}, 1)})
	var sizer pipeline.Sizer = s
	require.EqualValues(t, 64+8+16+3, sizer.Size())
}

func TestSampleText(t *testing.T) {
	require.Equal(t, "{}", Sample{}.String())
	s := New(Field{"x", Vector(make([]float32, 16))}, Field{"y", Scalar(int64(1))})
	require.Equal(t, "{x: f32[16], y: i64[]}", s.String())
}

func TestSampleEqual(t *testing.T) {
	s := New(Field{"x", Scalar(int8(1))}, Field{"y", Scalar(int8(2))})
	require.True(t, s.Equal(New(Field{"x", Scalar(int8(1))}, Field{"y", Scalar(int8(2))})))
	require.False(t, s.Equal(New(Field{"y", Scalar(int8(2))}, Field{"x", Scalar(int8(1))})))
	require.False(t, s.Equal(s.With("y", Scalar(int8(3)))))
	require.False(t, s.Equal(s.Without("y")))
	require.False(t, s.Equal(s.WithMeta(Meta{Index: 1})))
	b := must(DefaultCollate([]Sample{s}))
	require.False(t, b.Equal(must(DefaultCollate([]Sample{s.AsPadding()}))))
}

func TestSampleItemErrors(t *testing.T) {
	for name, s := range map[string]Sample{
		"scalar":         New(Field{"x", Scalar(int8(1))}),
		"unequal rows":   New(Field{"x", Vector(make([]int8, 2))}, Field{"y", Vector(make([]int8, 3))}),
		"no rows":        New(Field{"x", Vector([]int8{})}),
		"nothing at all": {},
		"no tensor":      New(Field{"x", Tensor{}}),
	} {
		_, err := s.Item(0)
		require.ErrorIs(t, err, ErrShape, name)
	}
	s := New(Field{"x", Vector(make([]int8, 2))})
	for _, i := range []int{-1, 2} {
		_, err := s.Item(i)
		require.ErrorIs(t, err, ErrShape)
	}
}

// Metadata that cannot be told apart are none, rather than another item's.
func TestSampleItemOfChangedBatch(t *testing.T) {
	b := must(DefaultCollate(pairs(4))).Without("x").Without("y").With("z", Vector([]int8{1, 2, 3}))
	item := must(b.Item(1))
	require.Zero(t, item.Meta())
	require.Nil(t, item.Metas())
	require.Equal(t, "{z: i8[]}", item.String())
}

func TestSampleAllStops(t *testing.T) {
	for name := range pair(0).All() {
		require.Equal(t, "x", name)
		break
	}
}

func TestSampleAllocations(t *testing.T) {
	var s Sample
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() {
		x, y := make([]float32, 16), make([]int64, 1)
		s = New(Field{"x", Vector(x)}, Field{"y", Vector(y)}).WithMeta(Meta{Index: 1})
	}), 3.0)
	channel := make(chan Sample, 1)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		channel <- s.WithMeta(Meta{Index: 2})
		s = <-channel
	}))
}
