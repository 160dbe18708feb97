package pipeline

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// sizes are the lengths of batches.
func sizes(batches [][]rec) []int {
	out := []int{}
	for _, b := range batches {
		out = append(out, len(b))
	}
	return out
}

func TestBatchesDoNotStraddleUnlessAsked(t *testing.T) {
	p := BatchRaw(From[rec](upTo(5)).Epochs(2), 4)
	require.Equal(t, []int{4, 1, 4, 1}, sizes(allOf(t, p)))
	require.Equal(t, []int{4, 4}, sizes(allOf(t, p.DropLast())))

	across := p.AcrossEpochs()
	got := allOf(t, across)
	require.Equal(t, []int{4, 4, 2}, sizes(got))
	require.Equal(t, []int{0, 1, 2, 3, 4, 0, 1, 2, 3, 4}, flat(got))
	require.Equal(t, []int{4, 4}, sizes(allOf(t, across.DropLast())))
}

func TestShuffleDoesNotStraddle(t *testing.T) {
	got := firsts(allOf(t, From[rec](upTo(10)).Shuffle(8).Epochs(2)))
	require.ElementsMatch(t, counted(10), got[:10])
	require.ElementsMatch(t, counted(10), got[10:])
}

// epochsOf goes through all epochs.
func epochsOf(t *testing.T, it *Iterator[rec]) (numbers []int64, elements [][]int) {
	for epoch, seq := range it.Epochs(context.Background()) {
		var list []int
		for v, err := range seq {
			require.NoError(t, err)
			list = append(list, v.V[0])
		}
		numbers, elements = append(numbers, epoch), append(elements, list)
	}
	return numbers, elements
}

func TestEpochsOfAnIterator(t *testing.T) {
	for _, chunk := range []int{1, 2, 3, 64} {
		numbers, elements := epochsOf(t, begin(t, From[rec](upTo(3)).Epochs(3).ChunkSize(chunk)))
		require.Equal(t, []int64{0, 1, 2}, numbers)
		require.Equal(t, [][]int{{0, 1, 2}, {0, 1, 2}, {0, 1, 2}}, elements)
	}
}

func TestEmptyEpochsAreSeen(t *testing.T) {
	nothing := func(rec) bool { return false }
	for _, p := range []*Pipeline[rec]{
		From[rec](upTo(0)).Epochs(3),
		From[rec](upTo(9)).Filter(nothing).Epochs(3).ChunkSize(2),
		From[rec](upTo(9)).Filter(nothing).Shuffle(4).Epochs(3),
	} {
		numbers, elements := epochsOf(t, begin(t, p))
		require.Equal(t, []int64{0, 1, 2}, numbers)
		require.Equal(t, [][]int{nil, nil, nil}, elements)
	}
}

func TestAnEpochNeedNotBeGoneThroughToItsEnd(t *testing.T) {
	it := begin(t, From[rec](upTo(100)).Epochs(3).ChunkSize(3))
	var firstOf []int
	for _, seq := range it.Epochs(context.Background()) {
		for v := range seq {
			firstOf = append(firstOf, v.V[0])
			break
		}
	}
	require.Equal(t, []int{0, 0, 0}, firstOf)
	_, err := it.Next(context.Background())
	require.Equal(t, io.EOF, err)
}

func TestEpochsDoNotHideAnErrorInTheRest(t *testing.T) {
	src := upTo(100)
	src.bad = func(i int) bool { return i == 50 }
	it := begin(t, From[rec](src).Epochs(3))
	var last error
	for _, seq := range it.Epochs(context.Background()) {
		for _, err := range seq {
			last = err
			break // the rest of the epoch is left
		}
	}
	require.ErrorIs(t, last, errBad)
}

func TestLeavingTheEpochsClosesTheIterator(t *testing.T) {
	it := begin(t, From[rec](upTo(100)).Epochs(0))
	for epoch := range it.Epochs(context.Background()) {
		if epoch == 3 {
			break
		}
	}
	require.True(t, func() bool { _, err := it.Next(context.Background()); return errors.Is(err, ErrClosed) }())
}

func TestEpochTellsOfTheLastElement(t *testing.T) {
	it := begin(t, From[rec](upTo(3)).Epochs(2).ChunkSize(2))
	require.EqualValues(t, 0, it.Epoch())
	for i := range 6 {
		takeN(t, it, 1)
		require.EqualValues(t, i/3, it.Epoch(), "after element %d", i)
	}
	takeRest(t, it)
	require.EqualValues(t, 2, it.Epoch(), "the end of the last epoch has been seen")
}

// A state at the boundary says whether its end has been seen, and the resumed
// iterator tells it once or not at all.
func TestStateAtTheBoundary(t *testing.T) {
	p := BatchRaw(From[rec](upTo(5)).Shuffle(3).Epochs(3), 4)
	all := allOf(t, p)
	require.Equal(t, []int{4, 1, 4, 1, 4, 1}, sizes(all))

	before := begin(t, p)
	takeN(t, before, 2) // all of the epoch, its end not seen
	resumed := goOn(t, p, saved(t, before))
	require.Equal(t, all[2:], takeRest(t, resumed))

	// The end of epoch 0 is still to come: it has no elements left.
	var numbers []int64
	var counts []int
	for epoch, seq := range goOn(t, p, saved(t, before)).Epochs(context.Background()) {
		n := 0
		for range seq {
			n++
		}
		numbers, counts = append(numbers, epoch), append(counts, n)
	}
	require.Equal(t, []int64{0, 1, 2}, numbers)
	require.Equal(t, []int{0, 2, 2}, counts)

	after := begin(t, p)
	var state []byte
	for range after.Epochs(context.Background()) {
		if after.Epoch() == 1 {
			state = saved(t, after) // the end has been seen
			break
		}
	}
	numbers = nil
	for epoch := range goOn(t, p, state).Epochs(context.Background()) {
		numbers = append(numbers, epoch)
	}
	require.Equal(t, []int64{1, 2}, numbers)
	require.Equal(t, all[2:], takeRest(t, goOn(t, p, state)))
}

// Batches that go over the boundary bring elements of the epoch before back, but not
// its end.
func TestTheEndOfAnEpochIsSeenOnceAcrossEpochs(t *testing.T) {
	p := BatchRaw(From[rec](upTo(5)).Epochs(4).ChunkSize(1), 3).AcrossEpochs()
	type seen struct {
		epoch int64
		sizes []int
	}
	straight := []seen{}
	for epoch, seq := range begin(t, p).Epochs(context.Background()) {
		s := seen{epoch: epoch}
		for b := range seq {
			s.sizes = append(s.sizes, len(b))
		}
		straight = append(straight, s)
	}
	require.Equal(t, []seen{{0, []int{3}}, {1, []int{3, 3}}, {2, []int{3, 3}}, {3, []int{3, 2}}}, straight)

	// Resumed within each epoch, after one batch of it.
	for at := range straight {
		it := begin(t, p)
		for epoch, seq := range it.Epochs(context.Background()) {
			if epoch < int64(at) {
				continue
			}
			var state []byte
			for range seq {
				state = saved(t, it)
				break
			}
			rest := []seen{}
			for epoch, seq := range goOn(t, p, state).Epochs(context.Background()) {
				s := seen{epoch: epoch}
				for b := range seq {
					s.sizes = append(s.sizes, len(b))
				}
				rest = append(rest, s)
			}
			want := append([]seen{{straight[at].epoch, append([]int(nil), straight[at].sizes[1:]...)}}, straight[at+1:]...)
			require.Equal(t, want, rest)
			break
		}
	}
}

func TestTakeEndsASourceWithoutEnd(t *testing.T) {
	for _, chunk := range []int{1, 3, 64} {
		src := &tally{}
		it := begin(t, From[int](src).Take(5).Epochs(3).ChunkSize(chunk).Prefetch(2))
		require.Equal(t, []int{0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4}, takeRest(t, it))
		require.NoError(t, it.Close())
	}
}

func TestTakeOfAnErrorBehindItEndsCleanly(t *testing.T) {
	src := upTo(20)
	src.bad = func(i int) bool { return i == 7 }
	for _, chunk := range []int{1, 4, 7, 64} {
		require.Equal(t, []int{0, 1, 2, 3, 4}, firsts(allOf(t, From[rec](src).Take(5).ChunkSize(chunk))), "chunks of %d", chunk)
	}
}

func TestStopEndsASourceThatTakesNoNotice(t *testing.T) {
	it := begin(t, From[int](&tally{}))
	takeN(t, it, 100)
	it.Stop()
	done := make(chan []int, 1)
	go func() {
		rest, _ := takeAll(it)
		done <- rest
	}()
	select {
	case rest := <-done:
		for i, v := range rest {
			require.Equal(t, 100+i, v)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the stream goes on")
	}
}

// What a cache has of an epoch that was stopped is not the epoch.
func TestStopBeforeACache(t *testing.T) {
	src := &tally{n: 10_000}
	p := From[int](src).Cache().Epochs(3).ChunkSize(4).Prefetch(2)
	it := begin(t, p)
	takeN(t, it, 10)
	it.Stop()
	rest := takeRest(t, it)
	require.Less(t, len(rest), 9_000)
	for i, v := range rest {
		require.Equal(t, 10+i, v)
	}
	more := takeRest(t, goOn(t, p, saved(t, it)))
	require.Len(t, more, 3*10_000-10-len(rest))

	// A cache that is complete needs no source, and stops likewise.
	endless := begin(t, From[int](&tally{n: 10}).Cache().Epochs(0))
	takeN(t, endless, 95)
	endless.Stop()
	takeRest(t, endless)
}

func TestAnEndlessStreamOfNothing(t *testing.T) {
	for _, p := range []*Pipeline[rec]{
		From[rec](upTo(0)).Epochs(0),
		From[rec](upTo(0)).Shuffle(4).Cache().Epochs(0),
		From[rec](upTo(2)).Shard(2, 3).Epochs(0),
	} {
		_, err := takeAll(begin(t, p))
		require.ErrorIs(t, err, ErrEmptySource)
	}
}

func TestRepeatMakesOneEpochOfMany(t *testing.T) {
	numbers, elements := epochsOf(t, begin(t, From[rec](upTo(3)).Shuffle(3).Repeat(4).Epochs(2)))
	require.Equal(t, []int64{0, 1}, numbers)
	for _, list := range elements {
		require.Len(t, list, 12)
		orders := map[[3]int]bool{}
		for i := 0; i < 12; i += 3 {
			require.ElementsMatch(t, counted(3), list[i:i+3])
			orders[[3]int(list[i:i+3])] = true
		}
		require.Greater(t, len(orders), 1, "each lap has an order of its own")
	}
}

// What Take leaves of an epoch is read all the same where batches go over: the next
// epoch begins with it.
func TestTakeOfBatchesThatGoOver(t *testing.T) {
	for _, chunk := range []int{1, 64} {
		p := BatchRaw(From[rec](upTo(10)), 4).AcrossEpochs().Take(1).Epochs(3).ChunkSize(chunk).Prefetch(1)
		var got [][]int
		for _, b := range allOf(t, p) {
			got = append(got, firsts(b))
		}
		require.Equal(t, [][]int{{0, 1, 2, 3}, {8, 9, 0, 1}, {0, 1, 2, 3}}, got, "chunks of %d", chunk)
	}
}
