package pipeline_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"hash/crc32"
	"io"
	"strings"
	"sync/atomic"

	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/pipeline"
)

// listed is a source of what of returns for an epoch. It fails in front of element
// broken−1, if that is positive, until it is mended.
type listed[T any] struct {
	of     func(epoch int64) []T
	seek   bool
	broken *atomic.Int64
}

var errBroken = errors.New("cannot be read")

func (s listed[T]) Describe() string { return "list" }

func (s listed[T]) Open(_ context.Context, at pipeline.Start) (pipeline.Cursor[T], error) {
	c := &listedCursor[T]{list: s.of(at.Epoch), broken: s.broken}
	if at.Position != nil {
		if err := json.Unmarshal(at.Position, &c.at); err != nil {
			return nil, err
		}
	}
	if s.seek {
		return listedSeeker[T]{c}, nil
	}
	return c, nil
}

type listedCursor[T any] struct {
	list   []T
	broken *atomic.Int64
	at     int
}

func (c *listedCursor[T]) Next(context.Context) (v T, err error) {
	if c.at == len(c.list) {
		return v, io.EOF
	}
	if c.broken != nil && c.broken.Load() == int64(c.at)+1 {
		return v, errBroken
	}
	c.at++
	return c.list[c.at-1], nil
}

func (c *listedCursor[T]) Close() error { return nil }

type listedSeeker[T any] struct{ *listedCursor[T] }

func (c listedSeeker[T]) Position() any { return c.at }

// byEpoch is what a pipeline gives, epoch by epoch.
func byEpoch[T any](t require.TestingT, p *pipeline.Pipeline[T]) [][]T {
	it, err := p.Start(context.Background())
	require.NoError(t, err)
	var out [][]T
	for _, epoch := range it.Epochs(context.Background()) {
		var list []T
		for v, err := range epoch {
			require.NoError(t, err)
			list = append(list, v)
		}
		out = append(out, list)
	}
	return out
}

// inGenerations is what a pipeline gives when it is stopped after each of cuts, saved and
// resumed; plan makes that of each generation. It returns the largest state as well.
func inGenerations[T any](t require.TestingT, plan func(generation int) *pipeline.Pipeline[T], cuts []int) (out []T, largest int) {
	var state []byte
	out = []T{}
	for g := 0; ; g++ {
		var it *pipeline.Iterator[T]
		var err error
		if state == nil {
			it, err = plan(g).Start(context.Background())
		} else {
			it, err = plan(g).Resume(context.Background(), state)
			require.NoError(t, err)
			again, err := it.State()
			require.NoError(t, err)
			require.JSONEq(t, string(state), string(again), "a state taken right after it was resumed")
		}
		require.NoError(t, err)
		for n := 0; g >= len(cuts) || n < cuts[g]; n++ {
			v, err := it.Next(context.Background())
			if err == io.EOF {
				require.NoError(t, it.Close())
				return out, largest
			}
			require.NoError(t, err)
			out = append(out, v)
		}
		state, err = it.State()
		require.NoError(t, err)
		require.NoError(t, it.Close())
		largest = max(largest, len(state))
	}
}

// resealed is a state whose last stage remembers something else.
func resealed(t require.TestingT, state []byte, stage string) []byte {
	var fields map[string]any
	d := json.NewDecoder(bytes.NewReader(state))
	d.UseNumber()
	require.NoError(t, d.Decode(&fields))
	delete(fields, "crc32c")
	var other any
	d = json.NewDecoder(strings.NewReader(stage))
	d.UseNumber()
	require.NoError(t, d.Decode(&other))
	fields["place"].(map[string]any)["at"].(map[string]any)["state"] = other
	sorted, err := json.Marshal(fields)
	require.NoError(t, err)
	fields["crc32c"] = crc32.Checksum(sorted, crc32.MakeTable(crc32.Castagnoli))
	out, err := json.Marshal(fields)
	require.NoError(t, err)
	return out
}
