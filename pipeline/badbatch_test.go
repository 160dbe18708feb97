package pipeline_test

import (
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/pipeline"
)

// group is an element with a collate function of its own.
type group struct {
	kind  string
	items []int
}

func (group) CollateBatch(batch []group) (group, error) {
	out := group{kind: batch[0].kind}
	for i, g := range batch {
		if g.kind == "panic" {
			panic(errBad)
		}
		if g.kind != out.kind {
			return out, fmt.Errorf("element %d is %q, not %q: %w", i, g.kind, out.kind, errBad)
		}
		out.items = append(out.items, g.items...)
	}
	return out, nil
}

// kinds makes groups of one element each, of the kinds that are given by letter.
func kinds(letters string) *pipeline.Pipeline[group] {
	return pipeline.Map(pipeline.From(&series{n: len(letters)}).ChunkSize(5).Workers(2), func(v int) (group, error) {
		kind := string(letters[v])
		if kind == "!" {
			kind = "panic"
		}
		return group{kind, []int{v}}, nil
	})
}

func TestBadBatchUnderSkip(t *testing.T) {
	for letters, c := range map[string]struct {
		want  [][]int
		left  int // elements left out
		panic int // of which by a panic
	}{
		"aaaaaaaa": {[][]int{{0, 1, 2, 3}, {4, 5, 6, 7}}, 0, 0},
		"aaaabaaa": {[][]int{{0, 1, 2, 3}, {5, 6, 7}}, 1, 0}, // the first is the odd one
		"aaaaabaa": {[][]int{{0, 1, 2, 3}, {4, 6, 7}}, 1, 0},
		"aaaaaaab": {[][]int{{0, 1, 2, 3}, {4, 5, 6}}, 1, 0},
		"abaaaaaa": {[][]int{{0, 2, 3}, {4, 5, 6, 7}}, 1, 0},
		"bbaaa":    {[][]int{{0, 1}, {4}}, 2, 0}, // a tie goes to the first
		"baaacaaa": {[][]int{{1, 2, 3}, {5, 6, 7}}, 2, 0},
		"b!aaaaaa": {[][]int{{2, 3}, {4, 5, 6, 7}}, 2, 1},
		"aa!aaaaa": {[][]int{{0, 1, 3}, {4, 5, 6, 7}}, 1, 1},
	} {
		t.Run(letters, func(t *testing.T) {
			var told complaints
			got, stats, err := play(t, kinds(letters).OnError(pipeline.Skip).ErrorSink(told.sink).Batch(4))
			require.Equal(t, io.EOF, err)
			var items [][]int
			for _, g := range got {
				items = append(items, g.items)
			}
			require.Equal(t, c.want, items)
			errs := statsOf(t, stats, "collate").Errors
			require.EqualValues(t, c.left, stats.ErrorCount(), "each element that is left out counts once")
			require.EqualValues(t, c.left, errs[pipeline.KindCollate]+errs[pipeline.KindPanic])
			require.Len(t, told.told, c.left)
		})
	}
}

func TestBadBatchUnderFail(t *testing.T) {
	got, _, err := play(t, kinds("aaaaabaa").Batch(4))
	require.Len(t, got, 1)
	requireStageError(t, err, "collate", pipeline.KindCollate, 0, 4)
	require.ErrorIs(t, err, errBad)

	got, _, err = play(t, kinds("aaaaa!aa").Batch(4))
	require.Len(t, got, 1)
	requireStageError(t, err, "collate", pipeline.KindPanic, 0, 4)
}

// A collate function that names the element is believed, and is not tried out.
func TestCollateNamesTheElement(t *testing.T) {
	var calls atomic.Int64
	p := pipeline.BatchRaw(pipeline.From(&series{n: 8}).OnError(pipeline.Skip), 4)
	sums := pipeline.Collate(p, func(b []int) (string, error) {
		calls.Add(1)
		if i := slices.Index(b, 2); i >= 0 {
			return "", &pipeline.ItemError{Item: i, Err: errBad}
		}
		return fmt.Sprint(b), nil
	})
	got, stats, err := play(t, sums)
	require.Equal(t, io.EOF, err)
	require.Equal(t, []string{"[0 1 3]", "[4 5 6 7]"}, got)
	require.EqualValues(t, 1, stats.ErrorCount())
	require.EqualValues(t, 3, calls.Load())
}

// An item that is not in the batch is not believed.
func TestCollateNamesNoElement(t *testing.T) {
	for _, item := range []int{-1, 4} {
		p := pipeline.BatchRaw(pipeline.From(&series{n: 4}).OnError(pipeline.Skip), 4)
		got, stats, err := play(t, pipeline.Collate(p, func(b []int) (string, error) {
			if slices.Contains(b, 2) {
				return "", &pipeline.ItemError{Item: item, Err: errBad}
			}
			return fmt.Sprint(b), nil
		}))
		require.Equal(t, io.EOF, err)
		require.Equal(t, []string{"[0 1 3]"}, got)
		require.EqualValues(t, 1, stats.ErrorCount())
	}
}

func TestCollatePanicsOnOneCall(t *testing.T) {
	for k := int64(1); k <= 5; k++ {
		var calls atomic.Int64
		p := pipeline.BatchRaw(pipeline.From(&series{n: 20}).OnError(pipeline.Skip).Workers(1), 4)
		got, stats, err := play(t, pipeline.Collate(p, func(b []int) ([]int, error) {
			if calls.Add(1) == k {
				panic("this time")
			}
			return b, nil
		}))
		require.Equal(t, io.EOF, err)
		require.Len(t, got, 5, "no batch is lost")
		require.Len(t, slices.Concat(got...), 19, "one element is")
		require.Equal(t, map[pipeline.ErrorKind]int64{pipeline.KindPanic: 1}, statsOf(t, stats, "collate").Errors)
	}
}

// Finding the elements that do not fit in a large batch takes a number of calls that
// grows with the batch, not with its square.
func TestBadBatchIsCheap(t *testing.T) {
	var calls atomic.Int64
	const n = 512
	p := pipeline.BatchRaw(pipeline.From(&series{n: n}).OnError(pipeline.Skip), n)
	got, stats, err := play(t, pipeline.Collate(p, func(b []int) (int, error) {
		calls.Add(1)
		for _, v := range b {
			if (v%100 == 7) != (b[0]%100 == 7) {
				return 0, errBad
			}
		}
		return len(b), nil
	}))
	require.Equal(t, io.EOF, err)
	require.Equal(t, []int{n - 6}, got)
	require.EqualValues(t, 6, stats.ErrorCount())
	require.Less(t, calls.Load(), int64(40*n))
}

// No elements go together: the batch is left out.
func TestBatchThatIsAllBad(t *testing.T) {
	p := pipeline.BatchRaw(pipeline.From(&series{n: 8}).OnError(pipeline.Skip), 4)
	got, stats, err := play(t, pipeline.Collate(p, func(b []int) (string, error) {
		if b[0] < 4 {
			return "", errBad
		}
		return fmt.Sprint(b), nil
	}))
	require.Equal(t, io.EOF, err)
	require.Equal(t, []string{"[4 5 6 7]"}, got)
	require.Positive(t, stats.ErrorCount())
}
