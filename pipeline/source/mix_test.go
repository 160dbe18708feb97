package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/rosaline-go/rosaline/pipeline"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// letters returns the sources a0 a1 …, b0 b1 …, of the lengths given; those in seekless
// tell no positions.
func letters(lengths []int, seekless ...int) (out []pipeline.Source[string]) {
	for i, n := range lengths {
		items := make([]string, n)
		for k := range items {
			items[k] = fmt.Sprintf("%c%d", 'a'+i, k)
		}
		var src pipeline.Source[string] = Memory(items)
		if slices.Contains(seekless, i) {
			src = unseekable[string]{src, nil}
		}
		out = append(out, src)
	}
	return out
}

// ofSource returns the elements that came from source i.
func ofSource(got []string, i int) []string {
	out := []string{}
	for _, g := range got {
		if g[0] == byte('a'+i) {
			out = append(out, g)
		}
	}
	return out
}

func TestMixModes(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		lengths := rapid.SliceOfN(rapid.IntRange(0, 12), 1, 6).Draw(r, "lengths")
		weights := make([]float64, len(lengths))
		for i := range weights {
			weights[i] = rapid.SampledFrom([]float64{0.5, 1, 2, 3}).Draw(r, "weight")
		}
		start := pipeline.Start{Seed: rapid.Uint64().Draw(r, "seed"), Epoch: rapid.Int64Range(0, 9).Draw(r, "epoch")}
		run := func(e Exhaustion) []string {
			src, err := Mix(letters(lengths, 1), weights, WithExhaustion(e))
			require.NoError(r, err)
			got, positions := replay[string](t, src, start, 10_000)
			k := rapid.IntRange(0, len(got)).Draw(r, "resumed at")
			at := start
			at.Position = positions[k]
			rest, _ := replay[string](t, src, at, 10_000)
			require.Equal(r, got[k:], rest)
			return got
		}
		all, first, repeat := run(StopAll), run(StopFirst), run(RepeatUntilAll)
		whole := 0
		for i, n := range lengths {
			own := ofSource(all, i)
			require.Len(r, own, n)
			for k, v := range own {
				require.Equal(r, fmt.Sprintf("%c%d", 'a'+i, k), v)
			}
			if len(ofSource(first, i)) == n {
				whole++
			}
		}
		require.Positive(r, whole, "no source has ended, but the mix has")
		require.Equal(r, all[:len(first)], first)
		require.Equal(r, repeat[:len(first)], first)
		laps := false // a source that has ended in the last lap: what the mix waited for
		for i, n := range lengths {
			own := ofSource(repeat, i)
			for k, v := range own {
				require.Equal(r, fmt.Sprintf("%c%d", 'a'+i, k%n), v)
			}
			require.GreaterOrEqual(r, len(own), n)
			laps = laps || len(own) == n
		}
		require.True(r, laps, "every source has been begun again: %v", repeat)
	})
}

func TestMixShares(t *testing.T) {
	const n = 100_000
	weights := []float64{1, 2.5, 0.125, 6}
	var sources []pipeline.Source[string]
	for i := range weights {
		sources = append(sources, must(Ring([]string{string(rune('a' + i))})))
	}
	total := 0.0
	for _, w := range weights {
		total += w
	}
	for _, seed := range []uint64{0, 1, math.MaxUint64} {
		c, err := must(Mix(sources, weights)).Open(context.Background(), pipeline.Start{Seed: seed})
		require.NoError(t, err)
		got := make([]string, n)
		for k := range got {
			got[k], _ = c.Next(context.Background())
		}
		require.NoError(t, c.Close())
		for i, w := range weights {
			p := w / total
			k := float64(strings.Count(strings.Join(got, ""), string(rune('a'+i))))
			require.InDelta(t, n*p, k, 4*math.Sqrt(n*p*(1-p)), "share of source %d", i)
		}
		// Draws do not depend on the ones before: pairs have the product of the shares.
		pairs := map[string]int{}
		for k := range n / 2 {
			pairs[got[2*k]+got[2*k+1]]++
		}
		p := weights[1] * weights[3] / total / total
		require.InDelta(t, n/2*p, pairs["bd"], 4*math.Sqrt(n/2*p*(1-p)))
	}
}

// The draws must not change: states of running jobs depend on them.
func TestMixOrderIsStable(t *testing.T) {
	src := must(Mix(letters([]int{8, 8, 8}), []float64{1, 2, 3}))
	got, _ := replay[string](t, src, pipeline.Start{Seed: 0, Epoch: 0}, 12)
	require.Equal(t, "b0 a0 b1 c0 c1 c2 a1 b2 c3 c4 a2 c5", strings.Join(got, " "))
	other, _ := replay[string](t, src, pipeline.Start{Seed: 1, Epoch: 0}, 12)
	require.NotEqual(t, got, other)
	other, _ = replay[string](t, src, pipeline.Start{Seed: 0, Epoch: 1}, 12)
	require.NotEqual(t, got, other)
}

// seedsSeen is a source of one element that remembers how it was opened.
type seedsSeen struct{ starts *[]pipeline.Start }

func (s seedsSeen) Open(_ context.Context, at pipeline.Start) (pipeline.Cursor[string], error) {
	*s.starts = append(*s.starts, at)
	return &sliceCursor[string]{items: []string{"x"}}, nil
}

// Sources that shuffle by their seed must not all do it in the same way.
func TestMixGivesSeeds(t *testing.T) {
	var starts []pipeline.Start
	src := must(Mix([]pipeline.Source[string]{seedsSeen{&starts}, seedsSeen{&starts}, Memory(make([]string, 20))}, []float64{1, 1, 1}, WithExhaustion(RepeatUntilAll)))
	_, _ = replay[string](t, src, pipeline.Start{Seed: 5, Epoch: 2}, 1000)
	require.Greater(t, len(starts), 10)
	seen := map[uint64]bool{5: true}
	for _, s := range starts {
		require.Equal(t, int64(2), s.Epoch)
		require.Nil(t, s.Position)
		require.False(t, seen[s.Seed], "a seed comes twice")
		seen[s.Seed] = true
	}
}

// closingSource counts its open cursors, and can fail to open.
type closingSource struct {
	pipeline.Source[string]
	open  *int
	fails func() error
}

type closingCursor struct {
	pipeline.Cursor[string]
	open *int
}

func (s closingSource) Open(ctx context.Context, at pipeline.Start) (pipeline.Cursor[string], error) {
	if err := s.fails(); err != nil {
		return nil, err
	}
	c, err := s.Source.Open(ctx, at)
	if err == nil {
		*s.open++
	}
	return &closingCursor{c, s.open}, err
}

func (c *closingCursor) Close() error {
	*c.open--
	return errors.Join(c.Cursor.Close(), errClosing)
}

var errClosing = errors.New("closing fails")

func TestMixClosesItsSources(t *testing.T) {
	for _, e := range []Exhaustion{StopAll, StopFirst, RepeatUntilAll} {
		for _, reads := range []int{0, 1, 100} {
			open := 0
			var sources []pipeline.Source[string]
			for _, src := range letters([]int{3, 0, 7}) {
				sources = append(sources, closingSource{src, &open, func() error { return nil }})
			}
			c, err := must(Mix(sources, []float64{1, 1, 1}, WithExhaustion(e))).Open(context.Background(), pipeline.Start{})
			require.NoError(t, err)
			require.Equal(t, 3, open)
			for range reads {
				_, _ = c.Next(context.Background())
			}
			require.ErrorIs(t, c.Close(), errClosing)
			require.Zero(t, open)
		}
	}
}

func TestMixSourceThatDoesNotOpen(t *testing.T) {
	broken := errors.New("broken")
	open, opened := 0, 0
	fails := func() error {
		if opened++; opened > 1 {
			return broken
		}
		return nil
	}
	sources := append(letters([]int{30}), closingSource{letters([]int{1})[0], &open, fails})
	src := must(Mix(sources, []float64{1, 1}, WithExhaustion(RepeatUntilAll)))
	c, err := src.Open(context.Background(), pipeline.Start{})
	require.NoError(t, err)
	for err == nil {
		_, err = c.Next(context.Background())
	}
	require.ErrorIs(t, err, broken)
	require.ErrorContains(t, err, "source 1 of mix")
	require.True(t, isFatal(err))
	require.NotPanics(t, func() { c.(pipeline.Positioner).Position() })
	_, again := c.Next(context.Background())
	require.ErrorIs(t, again, broken)
	require.ErrorIs(t, c.Close(), errClosing)
	require.Zero(t, open)

	_, err = src.Open(context.Background(), pipeline.Start{}) // it fails from the start now
	require.ErrorIs(t, err, broken)
}

// once is a source that has elements only when it is opened for the first time.
type once struct{ opened *int }

func (o once) Open(ctx context.Context, at pipeline.Start) (pipeline.Cursor[string], error) {
	*o.opened++
	return Memory(make([]string, 2/(*o.opened))).Open(ctx, at)
}

// A source that gives nothing when it is begun again is left out from then on.
func TestMixSourceThatDriesUp(t *testing.T) {
	opened := 0
	src := must(Mix([]pipeline.Source[string]{once{&opened}, Memory(make([]string, 50))}, []float64{1, 1}, WithExhaustion(RepeatUntilAll)))
	c, err := src.Open(context.Background(), pipeline.Start{})
	require.NoError(t, err)
	elements := 0
	for ; err == nil; elements++ {
		_, err = c.Next(context.Background())
		require.LessOrEqual(t, opened, 3)
	}
	require.Equal(t, io.EOF, err)
	// Two, then one, then none, and all of the other.
	require.Equal(t, 2+1+50, elements-1)
	require.Equal(t, 3, opened)
}

func TestMixOptions(t *testing.T) {
	one := letters([]int{1})
	for name, c := range map[string]struct {
		sources []pipeline.Source[string]
		weights []float64
		opts    []MixOption
	}{
		"none":           {nil, nil, nil},
		"no weight":      {one, nil, nil},
		"too many":       {one, []float64{1, 1}, nil},
		"zero":           {one, []float64{0}, nil},
		"negative":       {one, []float64{-1}, nil},
		"NaN":            {one, []float64{math.NaN()}, nil},
		"infinite":       {one, []float64{math.Inf(1)}, nil},
		"infinite sum":   {append(one, one...), []float64{math.MaxFloat64, math.MaxFloat64}, nil},
		"nil":            {[]pipeline.Source[string]{nil}, []float64{1}, nil},
		"exhaustion":     {one, []float64{1}, []MixOption{WithExhaustion(exhaustionCount)}},
		"one of several": {append(one, nil), []float64{1, 1}, nil},
	} {
		_, err := Mix(c.sources, c.weights, c.opts...)
		require.ErrorIs(t, err, ErrOption, name)
	}
}

func TestMixEndsWhenTheContextIsDone(t *testing.T) {
	// A source that ends at once whenever it is begun must not keep Next going.
	ctx, cancel := context.WithCancel(context.Background())
	src := must(Mix(letters([]int{0, 5}), []float64{1e9, 1e-9}, WithExhaustion(RepeatUntilAll)))
	c, err := src.Open(ctx, pipeline.Start{})
	require.NoError(t, err)
	v, err := c.Next(ctx)
	require.NoError(t, err)
	require.Equal(t, "b0", v)
	cancel()
	require.NoError(t, c.Close())

	_, err = openNested[int64](ctx, unseekable[int64]{numbers(0, 9), nil}, pipeline.Start{}, nestedPosition{Read: 5})
	require.ErrorIs(t, err, context.Canceled)
	require.NotErrorIs(t, err, io.EOF)
}
