package source

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/rosaline-go/rosaline/pipeline"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// turns is what Interleave must give, by lists: the ones that are open, each with what
// is left of it, and the ones to come.
func turns(n int, lists [][]string) []string {
	out := []string{}
	var open [][]string
	take := func() bool { // the next list that is not empty, where there is room
		for len(lists) > 0 {
			l := lists[0]
			lists = lists[1:]
			if len(l) > 0 {
				open = append(open, l)
				return true
			}
		}
		return false
	}
	for len(open) < n && take() {
	}
	for at := 0; len(open) > 0; {
		at %= len(open)
		if len(open[at]) == 0 {
			// Its turn: the next list stands in for it.
			last := len(open)
			if take() {
				open[at] = open[last]
				open = open[:last]
			} else {
				open = append(open[:at], open[at+1:]...)
				continue
			}
		}
		out = append(out, open[at][0])
		open[at] = open[at][1:]
		at++
	}
	return out
}

func TestInterleaveModel(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		lengths := rapid.SliceOfN(rapid.IntRange(0, 5), 0, 8).Draw(r, "lengths")
		n := rapid.IntRange(1, 5).Draw(r, "n")
		lists := make([][]string, len(lengths))
		for i, l := range lengths {
			for k := range l {
				lists[i] = append(lists[i], fmt.Sprintf("%c%d", 'a'+i, k))
			}
		}
		src, err := Interleave(n, letters(lengths, 0, 2)...)
		require.NoError(r, err)
		got, positions := replay[string](t, src, pipeline.Start{}, 1000)
		require.Equal(r, turns(n, lists), got)
		k := rapid.IntRange(0, len(got)).Draw(r, "resumed at")
		rest, _ := replay[string](t, src, pipeline.Start{Position: positions[k]}, 1000)
		require.Equal(r, got[k:], rest)
	})
}

func TestInterleaveOpensNoMoreThanN(t *testing.T) {
	open, most := 0, 0
	var sources []pipeline.Source[string]
	for _, src := range letters([]int{3, 1, 2, 0, 4, 1}) {
		sources = append(sources, closingSource{src, &open, func() error { most = max(most, open+1); return nil }})
	}
	c, err := must(Interleave(2, sources...)).Open(context.Background(), pipeline.Start{})
	require.NoError(t, err)
	require.Zero(t, open, "sources are opened when their turn comes")
	for range 11 {
		_, err := c.Next(context.Background())
		require.NoError(t, err)
	}
	require.Equal(t, 2, most)
	require.ErrorIs(t, c.Close(), errClosing)
	require.Zero(t, open)
}

func TestInterleaveSourceThatDoesNotOpen(t *testing.T) {
	broken := errors.New("broken")
	open := 0
	sources := append(letters([]int{2, 1}), closingSource{letters([]int{1})[0], &open, func() error { return broken }})
	c, err := must(Interleave(2, sources...)).Open(context.Background(), pipeline.Start{})
	require.NoError(t, err)
	for _, want := range []string{"a0", "b0", "a1"} {
		v, err := c.Next(context.Background())
		require.NoError(t, err)
		require.Equal(t, want, v)
	}
	for range 2 {
		_, err = c.Next(context.Background())
		require.ErrorIs(t, err, broken)
		require.ErrorContains(t, err, "source 2 of interleave")
		require.True(t, isFatal(err))
		require.NotPanics(t, func() { c.(pipeline.Positioner).Position() })
	}
	require.NoError(t, c.Close())
}

func TestInterleaveStopsWhenTheContextIsDone(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var sources []pipeline.Source[string]
	opened := 0
	for range 100 {
		sources = append(sources, closingSource{letters([]int{0})[0], new(int), func() error {
			if opened++; opened == 10 {
				cancel()
			}
			return nil
		}})
	}
	c, err := must(Interleave(2, sources...)).Open(ctx, pipeline.Start{})
	require.NoError(t, err)
	_, err = c.Next(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 10, opened)
	require.Error(t, c.Close())
}

func TestInterleaveGivesSeeds(t *testing.T) {
	var starts []pipeline.Start
	src := must(Interleave(2, pipeline.Source[string](seedsSeen{&starts}), seedsSeen{&starts}, seedsSeen{&starts}))
	_, _ = replay[string](t, src, pipeline.Start{Seed: 5, Epoch: 2}, 3)
	require.Len(t, starts, 3)
	require.NotEqual(t, starts[0].Seed, starts[1].Seed)
	require.NotEqual(t, starts[1].Seed, starts[2].Seed)
	require.Equal(t, int64(2), starts[0].Epoch)
}

func TestInterleaveOptions(t *testing.T) {
	for _, n := range []int{0, -1, maxInterleave + 1} {
		_, err := Interleave(n, letters([]int{1})...)
		require.ErrorIs(t, err, ErrOption)
	}
	_, err := Interleave[string](1, nil)
	require.ErrorIs(t, err, ErrOption)
}
