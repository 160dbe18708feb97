package resume

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/zeebo/xxh3"

	"github.com/rosaline-go/rosaline/pipeline"
	"github.com/rosaline-go/rosaline/pipeline/text"
)

// knownWords is a pipeline of words, 0 to 9, each epoch of which drops what came before in it.
func knownWords(epochs int) func(Start) (*pipeline.Pipeline[string], error) {
	return func(at Start) (*pipeline.Pipeline[string], error) {
		list := make([]string, 20)
		for i := range list {
			list[i] = fmt.Sprint(i % 10)
		}
		p := Deduplicate(pipeline.From(slice(list)), at.Dedup, func(set *text.StreamDeduplicator, w string) (bool, error) {
			return set.IsUnique([]byte(w)), nil
		})
		return p.Epochs(int64(epochs)).ChunkSize(1), nil
	}
}

// hashes64 are those another program has of words.
func hashes64(words ...string) (out []uint64) {
	for _, w := range words {
		out = append(out, xxh3.HashString(w))
	}
	return out
}

// TestKnown: hashes that another program knew count in the first epoch, whenever the run is
// opened, and from a state in memory too.
func TestKnown(t *testing.T) {
	known := WithKnown(hashes64("7", "3", "3", "nothing"))
	first := []string{"0", "1", "2", "4", "5", "6", "8", "9"}
	second := append(first[:3:3], "3", "4", "5", "6", "7", "8", "9")
	for stop := range len(first) + len(second) + 1 {
		d := newDisk(t)
		r, err := OpenPipeline(context.Background(), "run", knownWords(2), WithFS(d), known)
		require.NoError(t, err)
		var got []string
		for range stop {
			v, err := r.Next(context.Background())
			require.NoError(t, err)
			got = append(got, v)
		}
		require.NoError(t, r.Commit())
		state, err := r.State()
		require.NoError(t, err)
		require.NoError(t, r.Close())

		r, err = OpenPipeline(context.Background(), "run", knownWords(2), WithFS(d))
		require.NoError(t, err, "stop %d", stop)
		want := append(first[:len(first):len(first)], second...)
		require.Equal(t, want, append(got[:len(got):len(got)], rest(t, r)...), "stop %d", stop)
		require.NoError(t, r.Close())

		d = newDisk(t)
		r, err = OpenPipeline(context.Background(), "run", knownWords(2), WithFS(d), known)
		require.NoError(t, err)
		require.NoError(t, r.Load(state))
		require.Equal(t, want, append(got, rest(t, r)...), "stop %d", stop)
		require.NoError(t, r.Close())
	}
}

// TestKnownBegins: the hashes are those of the process that commits first.
func TestKnownBegins(t *testing.T) {
	d := newDisk(t)
	open := func(opts ...Option) (*ResumablePipeline[string], error) {
		return OpenPipeline(context.Background(), "run", knownWords(1), append(opts, WithFS(d))...)
	}
	r, err := open(WithKnown(hashes64("0", "1")))
	require.NoError(t, err)
	require.NoError(t, r.Close())
	r, err = open()
	require.NoError(t, err)
	require.Len(t, rest(t, r), 10, "nothing was committed with the others")
	require.NoError(t, r.Close())
	r, err = open(WithKnown(hashes64("5")))
	require.NoError(t, err)
	require.NoError(t, r.Commit())
	require.NoError(t, r.Close())
	_, err = open(WithKnown(hashes64("5")))
	require.ErrorIs(t, err, ErrOrder)

	raw := readFile(t, d, "run/known")
	for i := range raw {
		raw[i] ^= 1
		writeFile(t, d, "run/known", raw)
		_, err := open()
		require.Error(t, err, "byte %d", i)
		raw[i] ^= 1
		writeFile(t, d, "run/known", raw[:i])
		_, err = open()
		require.Error(t, err, "%d bytes", i)
	}
	require.NoError(t, d.Remove("run/known"))
	_, err = open()
	require.ErrorIs(t, err, ErrMissing)
	writeFile(t, d, "run/known", raw)
	r, err = open()
	require.NoError(t, err)
	require.NotContains(t, rest(t, r), "5")
	require.NoError(t, r.Close())
}

// TestPanics: no panic of a function of the user leaves the package.
func TestPanics(t *testing.T) {
	hook := func() (any, error) { panic("hook") }
	for _, o := range []Option{WithExtra(hook), WithBeforeCommit(hook), WithCoordinate(func(pipeline.SourceMark) Coordinate { panic("where") })} {
		r, err := OpenPipeline(context.Background(), "run", knownWords(1), WithFS(newDisk(t)), o)
		require.NoError(t, err)
		require.ErrorIs(t, r.Commit(), pipeline.ErrPanic)
		err = errors.Join(r.CommitLater(), r.Wait())
		require.ErrorIs(t, err, pipeline.ErrPanic)
		require.NoError(t, r.Close())
	}
	_, err := OpenPipeline(context.Background(), "run", func(Start) (*pipeline.Pipeline[string], error) { panic("build") }, WithFS(newDisk(t)))
	require.ErrorIs(t, err, pipeline.ErrPanic)
}

// slice is a source of words.
type slice []string

func (s slice) Open(context.Context, pipeline.Start) (pipeline.Cursor[string], error) {
	return &sliceCursor{s}, nil
}

type sliceCursor struct{ left []string }

func (c *sliceCursor) Next(context.Context) (v string, err error) {
	if len(c.left) == 0 {
		return "", io.EOF
	}
	v, c.left = c.left[0], c.left[1:]
	return v, nil
}

func (*sliceCursor) Close() error { return nil }
