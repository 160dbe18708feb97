package sample

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/rosaline-go/rosaline/pipeline"
)

// pair is the usual sample of a vector and a label.
func pair(i int) Sample {
	x := make([]float32, 16)
	for k := range x {
		x[k] = float32(i*100 + k)
	}
	return New(Field{"x", Vector(x)}, Field{"y", Vector([]int64{int64(i)})}).WithMeta(Meta{Source: "pairs", Index: int64(i)})
}

func pairs(n int) []Sample {
	out := make([]Sample, n)
	for i := range out {
		out[i] = pair(i)
	}
	return out
}

func TestDefaultCollateStacks(t *testing.T) {
	b, err := DefaultCollate(pairs(3))
	require.NoError(t, err)
	require.Equal(t, "{x: f32[3 16], y: i64[3 1]}", b.String())
	x, _ := b.Get("x")
	values := must(View[float32](x))
	for i := range 3 {
		for k := range 16 {
			require.Equal(t, float32(i*100+k), values[i*16+k])
		}
	}
	y, _ := b.Get("y")
	require.Equal(t, []int64{0, 1, 2}, must(View[int64](y)))
	require.Equal(t, []Meta{{"pairs", 0, false}, {"pairs", 1, false}, {"pairs", 2, false}}, b.Metas())
	require.Zero(t, b.Meta())
}

func TestDefaultCollateByPipeline(t *testing.T) {
	var c pipeline.Collatable[Sample] = Sample{}
	b, err := c.CollateBatch(pairs(2))
	require.NoError(t, err)
	require.True(t, b.Equal(must(DefaultCollate(pairs(2)))))
}

func TestDefaultCollateScalars(t *testing.T) {
	b := must(DefaultCollate([]Sample{New(Field{"n", Scalar(int32(4))}), New(Field{"n", Scalar(int32(5))})}))
	n, _ := b.Get("n")
	require.Equal(t, "i32[2]", n.String())
	require.Equal(t, []int32{4, 5}, must(View[int32](n)))
}

func TestDefaultCollateStrings(t *testing.T) {
	long := strings.Repeat("payload ", 5)
	b := must(DefaultCollate([]Sample{
		New(Field{"t", texts([]string{"a", long}, 2)}),
		New(Field{"t", texts([]string{"", "d"}, 2)}),
	}))
	x, _ := b.Get("t")
	require.Equal(t, "strings[2 2]", x.String())
	require.Equal(t, []string{"a", long, "", "d"}, must(x.Strings()).Strings())
}

func TestDefaultCollateFieldOrderIsFree(t *testing.T) {
	for _, n := range []int{2, 3, 40, 300} { // few fields and many
		batch := make([]Sample, 5)
		for i := range batch {
			fields := make([]Field, n)
			for j := range fields {
				fields[j] = Field{fmt.Sprint("f", j), Vector([]int32{int32(i), int32(j)})}
			}
			if i > 0 {
				rand.New(rand.NewPCG(uint64(i), 1)).Shuffle(n, func(a, b int) { fields[a], fields[b] = fields[b], fields[a] })
			}
			batch[i] = New(fields...)
		}
		b, err := DefaultCollate(batch)
		require.NoError(t, err)
		require.Equal(t, names(batch[0]), names(b))
		for j := range n {
			x, _ := b.Get(fmt.Sprint("f", j))
			k := int32(j)
			require.Equal(t, []int32{0, k, 1, k, 2, k, 3, k, 4, k}, must(View[int32](x)))
		}
	}
}

func TestDefaultCollateEmpty(t *testing.T) {
	_, err := DefaultCollate(nil)
	require.ErrorIs(t, err, ErrCollate)

	none := []Sample{Sample{}.WithMeta(Meta{Index: 1}), Sample{}.WithMeta(Meta{Index: 2})}
	b, err := DefaultCollate(none)
	require.NoError(t, err)
	require.Zero(t, b.Len())
	require.Equal(t, []Meta{{Index: 1}, {Index: 2}}, b.Metas())
	require.True(t, must(b.Item(1)).Equal(none[1]))

	zero := New(Field{"x", must(NewTensor([]float64{}, 3, 0))}, Field{"s", texts(nil, 0)}).WithMeta(Meta{Index: 3})
	b, err = DefaultCollate([]Sample{zero, zero})
	require.NoError(t, err)
	require.Equal(t, "{x: f64[2 3 0], s: strings[2 0]}", b.String())
	require.True(t, must(b.Item(1)).Equal(zero))
}

func TestDefaultCollateLimits(t *testing.T) {
	huge := New(Field{"x", must(NewTensor([]float64{}, math.MaxInt/16, 0))})
	_, err := DefaultCollate([]Sample{huge, huge, huge})
	require.ErrorIs(t, err, ErrCollate)
	require.ErrorIs(t, err, ErrShape)

	deep := New(Field{"x", must(NewTensor([]int8{1}, slices.Repeat([]int{1}, 32)...))})
	_, err = DefaultCollate([]Sample{deep, deep})
	require.ErrorIs(t, err, ErrShape)

	// Together 16 bytes more than 1 GiB, which must not be taken.
	big := New(Field{"x", must(FromBytes(U8, make([]byte, 64<<20+1), 64<<20+1))})
	_, err = DefaultCollate(slices.Repeat([]Sample{big}, 16))
	require.ErrorIs(t, err, ErrCollate)
	require.ErrorContains(t, err, `field "x"`)
	require.ErrorContains(t, err, "WithMaxFieldBytes")

	collate, err := NewDefaultCollate(WithMaxFieldBytes(3 * 64))
	require.NoError(t, err)
	_, err = collate(pairs(3))
	require.NoError(t, err)
	_, err = collate(pairs(4))
	require.ErrorIs(t, err, ErrCollate)
	var item *pipeline.ItemError
	require.False(t, errors.As(err, &item), "no item is at fault")

	words, err := NewDefaultCollate(WithMaxFieldBytes(2 * 16))
	require.NoError(t, err)
	word := New(Field{"t", texts([]string{"a"}, 1)})
	_, err = words([]Sample{word, word})
	require.NoError(t, err)
	_, err = words([]Sample{word, word, word})
	require.ErrorIs(t, err, ErrCollate)
}

func TestDefaultCollateOptions(t *testing.T) {
	for _, o := range []DefaultOption{WithMaxFieldBytes(0), WithMaxFieldBytes(-1), nil} {
		_, err := NewDefaultCollate(o)
		require.ErrorIs(t, err, ErrOption)
	}
}

func TestDefaultCollateOfBatches(t *testing.T) {
	b0, b1 := must(DefaultCollate(pairs(2))), must(DefaultCollate(pairs(4)[2:]))
	b := must(DefaultCollate([]Sample{b0, b1}))
	require.Equal(t, "{x: f32[2 2 16], y: i64[2 2 1]}", b.String())
	require.Len(t, b.Metas(), 4)
	require.EqualValues(t, 3, b.Metas()[3].Index)
	require.True(t, must(b.Item(1)).Equal(b1))
	require.True(t, must(must(b.Item(1)).Item(0)).Equal(pair(2)))

	// One that is no batch but has the shapes of one.
	lone := New(b0.fields...)
	_, err := DefaultCollate([]Sample{b0, lone, b1})
	var item *pipeline.ItemError
	require.ErrorAs(t, err, &item)
	require.Equal(t, 1, item.Item)
}

func anyTensor(t *rapid.T, dtype DType, shape []int) Tensor {
	n := 1
	for _, d := range shape {
		n *= d
	}
	if dtype == Strings {
		return texts(rapid.SliceOfN(rapid.StringN(0, 20, 40), n, n).Draw(t, "strings"), shape...)
	}
	of := rapid.Byte()
	if dtype == Bool {
		of = rapid.ByteRange(0, 1)
	}
	raw := rapid.SliceOfN(of, n*dtype.Size(), n*dtype.Size()).Draw(t, "raw")
	return must(FromBytes(dtype, raw, shape...))
}

// Row i of a batch is sample i again.
func TestDefaultCollateProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type column struct {
			name  string
			dtype DType
			shape []int
		}
		var columns []column
		for j := range rapid.IntRange(0, 20).Draw(t, "fields") {
			columns = append(columns, column{
				fmt.Sprint("field", j),
				DType(rapid.IntRange(int(F16), int(Strings)).Draw(t, "dtype")),
				rapid.SliceOfN(rapid.IntRange(0, 3), 0, 6).Draw(t, "shape"),
			})
		}
		batch := make([]Sample, rapid.IntRange(1, 5).Draw(t, "samples"))
		first := columns
		for i := range batch {
			var s Sample
			for _, c := range columns {
				s = s.With(c.name, anyTensor(t, c.dtype, c.shape))
			}
			batch[i] = s.WithMeta(Meta{"s", rapid.Int64().Draw(t, "index"), rapid.Bool().Draw(t, "padded")})
			if len(columns) > 0 && rapid.Bool().Draw(t, "reorder") {
				columns = rapid.Permutation(columns).Draw(t, "order")
			}
		}
		b, err := DefaultCollate(batch)
		require.NoError(t, err)
		require.Equal(t, len(first), b.Len())
		for j, c := range first {
			require.Equal(t, c.name, b.Field(j).Name)
			require.Equal(t, append([]int{len(batch)}, c.shape...), b.Field(j).Tensor.Shape())
		}
		for i, want := range batch {
			got := must(b.Item(i))
			require.Equal(t, want.Meta(), got.Meta())
			require.Equal(t, want.Len(), got.Len())
			for name, x := range want.All() {
				y, _ := got.Get(name)
				require.True(t, x.Equal(y), "%s of sample %d", name, i)
			}
		}
	})
}

func TestDefaultCollateAllocations(t *testing.T) {
	batch := pairs(32)
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() { _, _ = DefaultCollate(batch) }), 4.0, "fields, metadata, and the data of each field")
}
