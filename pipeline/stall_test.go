package pipeline_test

import (
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/pipeline"
)

// slowAt is a series that takes so long for one element.
func slowAt(n, at int, d time.Duration) *series {
	return &series{n: n, next: func(ctx context.Context, v int) error {
		if v == at {
			return nap(ctx, d)
		}
		return nil
	}}
}

// A stall is told, with what is being called, and nothing is lost.
func TestStallIsReported(t *testing.T) {
	slowMap := func(v int) (int, error) {
		if v == 7 {
			time.Sleep(3500 * time.Millisecond)
		}
		return v, nil
	}
	for name, c := range map[string]struct {
		stage string
		build func() *pipeline.Pipeline[int]
	}{
		"map": {"map (for 1s)", func() *pipeline.Pipeline[int] {
			return pipeline.From(&series{n: 20}).ChunkSize(1).Workers(2).Map(slowMap)
		}},
		"named map": {"tokenize (for 1s)", func() *pipeline.Pipeline[int] {
			return pipeline.From(&series{n: 20}).ChunkSize(1).Workers(2).Map(slowMap).Named("tokenize")
		}},
		"source": {"series (for 1s)", func() *pipeline.Pipeline[int] {
			return pipeline.From(slowAt(20, 7, 3500*time.Millisecond)).ChunkSize(1)
		}},
	} {
		for _, policy := range []pipeline.Policy{pipeline.Fail, pipeline.Skip} {
			t.Run(name+" "+policy.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					it, err := c.build().OnError(policy).StallTimeout(time.Second).Start(context.Background())
					require.NoError(t, err)
					got, err := gather(t, it)
					require.Equal(t, upTo(0, 7), got)
					require.ErrorIs(t, err, pipeline.ErrStalled)
					require.ErrorContains(t, err, c.stage)
					require.False(t, it.Done())
					stalls := 1
					for {
						v, err := it.Next(t.Context())
						if err == nil {
							require.Equal(t, len(got), v)
							got = append(got, v)
							continue
						}
						if err == io.EOF {
							break
						}
						require.ErrorIs(t, err, pipeline.ErrStalled)
						stalls++
					}
					require.Equal(t, upTo(0, 20), got)
					require.Equal(t, 3, stalls, "one each second")
					require.Zero(t, it.Stats().ErrorCount(), "a stall is no error about an element")
					require.NoError(t, it.Close())
				})
			})
		}
	}
}

// By default an element that takes an hour holds up those behind it and loses none:
// there is no limit after which the stream goes on without it.
func TestSlowElementIsNotLost(t *testing.T) {
	for _, policy := range []pipeline.Policy{pipeline.Fail, pipeline.Skip} {
		synctest.Test(t, func(t *testing.T) {
			it, err := pipeline.From(&series{n: 3000}).ChunkSize(1).Prefetch(2000).Workers(4).OnError(policy).
				Map(func(v int) (int, error) {
					if v%1000 == 5 {
						time.Sleep(time.Hour)
					}
					return v, nil
				}).Start(context.Background())
			require.NoError(t, err)
			got, err := gather(t, it)
			require.Equal(t, io.EOF, err)
			require.Equal(t, upTo(0, 3000), got)
			require.NoError(t, it.Close())
		})
	}
}

// What was read before the source stopped to answer is delivered first, also a chunk that
// is not full and what stages hold.
func TestSourceTimeoutDeliversWhatWasRead(t *testing.T) {
	for _, policy := range []pipeline.Policy{pipeline.Fail, pipeline.Skip} {
		synctest.Test(t, func(t *testing.T) {
			p := pipeline.From(slowAt(-1, 40, time.Hour)).ChunkSize(64).SourceTimeout(2 * time.Second).FlushAfter(time.Minute).OnError(policy)
			began := time.Now()
			it, err := pipeline.BatchRaw(p.Shuffle(16), 12).Start(context.Background())
			require.NoError(t, err)
			got, err := gather(t, it)
			require.ErrorIs(t, err, pipeline.ErrSourceTimeout)
			requireStageError(t, err, "series", pipeline.KindSource, 0, 40)
			require.InDelta(t, 2, time.Since(began).Seconds(), 0.1)
			var flat []int
			for _, b := range got {
				flat = append(flat, b...)
			}
			require.ElementsMatch(t, upTo(0, 40), flat)
			require.Len(t, got, 4)
			_, again := it.Next(t.Context())
			require.Same(t, err, again)
			require.NoError(t, it.Close())
		})
	}
}

// The time runs while the source is asked, not while the consumer takes its time.
func TestSourceTimeoutCountsTheSourceOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		it, err := pipeline.From(&series{n: 10, next: func(ctx context.Context, _ int) error { return nap(ctx, 900*time.Millisecond) }}).
			Epochs(2).Prefetch(1).ChunkSize(1).SourceTimeout(time.Second).Start(context.Background())
		require.NoError(t, err)
		n := 0
		for {
			time.Sleep(10 * time.Second)
			_, err := it.Next(t.Context())
			if err != nil {
				require.Equal(t, io.EOF, err)
				break
			}
			n++
		}
		require.Equal(t, 20, n)
		require.NoError(t, it.Close())
	})
}

// A source that does not heed its context holds up Close, not the error.
func TestSourceTimeoutOfDeafSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		it, err := pipeline.From(&series{n: -1, next: func(_ context.Context, v int) error {
			if v == 3 {
				time.Sleep(time.Hour)
			}
			return nil
		}}).SourceTimeout(time.Second).CloseTimeout(time.Minute).Start(context.Background())
		require.NoError(t, err)
		began := time.Now()
		got, err := gather(t, it)
		require.Equal(t, upTo(0, 3), got)
		require.ErrorIs(t, err, pipeline.ErrSourceTimeout)
		require.Less(t, time.Since(began), 3*time.Second)
		require.ErrorIs(t, it.Close(), pipeline.ErrStuck)
		time.Sleep(time.Hour)
		require.NoError(t, it.Close())
		got, err = gather(t, it)
		require.Empty(t, got, "what comes too late is not delivered behind the error")
		require.ErrorIs(t, err, pipeline.ErrSourceTimeout)
	})
}
