package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/rosaline-go/rosaline/bench/pipeline/protocol"
	"github.com/rosaline-go/rosaline/pipeline"
	"github.com/rosaline-go/rosaline/pipeline/sample"
	"github.com/rosaline-go/rosaline/pipeline/source"
)

// What the other side has too.
const (
	floats        = 16  // of a sample
	summedFloats  = 256 // of one that is summed
	sums          = 10  // how often it is: 10 KiB take about 22 µs
	batchSize     = 32
	shuffleBuffer = 1000
	seed          = 42
	consumerTime  = 500 * time.Microsecond // a batch
	sourceTime    = 10 * time.Millisecond  // an element
)

// runner runs cases, and keeps the samples of the last one.
type runner struct {
	dir    string // of the lines
	memory memory
}

// run runs a case once. What it reads is made, and what is garbage is collected, before
// the time begins.
func (r *runner) run(ctx context.Context, c protocol.Command) (protocol.Run, error) {
	t := &tally{second: "y"}
	switch c.Case {
	case "passthrough":
		return measure(ctx, t, consumer[sample.Sample]{take: t.one}, r.samples(c, floats))
	case "map":
		identity := func(s sample.Sample) (sample.Sample, error) { return s, nil }
		return measure(ctx, t, consumer[sample.Sample]{take: t.one}, r.samples(c, floats).Map(identity))
	case "batch":
		return measure(ctx, t, consumer[sample.Sample]{take: t.collated}, r.samples(c, floats).Batch(batchSize))
	case "shuffle":
		return measure(ctx, t, consumer[sample.Sample]{take: t.collated},
			r.samples(c, floats).Shuffle(shuffleBuffer).Seed(seed).Batch(batchSize))
	case "jsonl", "jsonl-tree":
		t.second = "label"
		p, err := r.lines(c)
		if err != nil {
			return protocol.Run{}, err
		}
		return measure(ctx, t, consumer[[]sample.Sample]{take: t.each}, pipeline.BatchRaw(p, batchSize))
	case "cpu":
		t.second = "crc"
		return measure(ctx, t, consumer[[]sample.Sample]{take: t.each},
			pipeline.BatchRaw(r.samples(c, summedFloats).Map(summed), batchSize))
	case "consumer":
		return measure(ctx, t, consumer[sample.Sample]{take: t.collated, spin: consumerTime},
			r.samples(c, floats).Batch(batchSize))
	case "latency":
		return measure(ctx, t, consumer[sample.Sample]{take: t.one, first: true},
			from[sample.Sample](slow{c.N, sourceTime}, c.Workers))
	}
	return protocol.Run{}, fmt.Errorf("no case %s", c.Case)
}

// from begins a pipeline when what was needed before is no garbage any more.
func from[T any](src pipeline.Source[T], workers int) *pipeline.Pipeline[T] {
	runtime.GC()
	return pipeline.From(src).Workers(workers)
}

// samples begins a pipeline over samples in memory.
func (r *runner) samples(c protocol.Command, floats int) *pipeline.Pipeline[sample.Sample] {
	return from[sample.Sample](source.Memory(r.memory.get(c.N, floats)), c.Workers)
}

// lines begins a pipeline over the lines that the driver wrote, parsed.
func (r *runner) lines(c protocol.Command) (*pipeline.Pipeline[sample.Sample], error) {
	path := filepath.Join(r.dir, fmt.Sprintf("lines-%d.jsonl", c.N))
	// Read once, so that it comes from the page cache on both sides.
	if _, err := os.ReadFile(path); err != nil {
		return nil, err
	}
	inputs, err := source.Expand([]string{path}, source.FormatJSONL)
	if err != nil {
		return nil, err
	}
	parse, err := newRows()
	if err != nil {
		return nil, err
	}
	return pipeline.Apply(from[*source.Chunk](source.Lines(inputs), c.Workers).ChunkSize(1), parse), nil
}

// summed adds the checksum of x, taken over it so many times in a row.
func summed(s sample.Sample) (sample.Sample, error) {
	x, ok := s.Get("x")
	if !ok {
		return s, fmt.Errorf("%v has no x", s)
	}
	sum := uint32(0)
	for range sums {
		sum = updateCRC(sum, x.Bytes())
	}
	return s.With("crc", sample.Vector([]int64{int64(sum)})), nil
}
