package main

import (
	"context"
	"strconv"
	"sync"

	"github.com/spf13/cobra"

	"github.com/rosaline-go/rosaline/cmd/rosaline/internal/jsonl"
	"github.com/rosaline-go/rosaline/cmd/rosaline/internal/ordered"
	"github.com/rosaline-go/rosaline/cmd/rosaline/internal/output"
	"github.com/rosaline-go/rosaline/pipeline/source"
	"github.com/rosaline-go/rosaline/pipeline/text"
)

func (c *command) qualityCommand() *cobra.Command {
	f := &inputFlags{}
	cmd := &cobra.Command{
		Use:   "quality [flags] INPUT...",
		Short: "Write the quality metrics of each record",
		Long: `Writes one JSON object a record, in the order of the inputs:

  {"id":…,"chars":n,"words":n,"entropy":x,"repetition":x,"symbol_ratio":x}

The metrics are of the text as it was read: nothing is cleaned first. Records
without a text (null) have no metrics; they are left out and counted in a message.`,
		Args: inputArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.quality(cmd.Context(), f, args)
		},
	}
	cmd.Flags().SortFlags = false
	f.add(cmd.Flags())
	return cmd
}

func (c *command) quality(ctx context.Context, f *inputFlags, args []string) error {
	files, err := c.expand(f, args)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // lets go of standard input
	in, err := f.open(ctx, c.in, files)
	if err != nil {
		return err
	}
	out, err := output.Create(output.Stdout, c.out)
	if err != nil {
		return err
	}
	w := &qualityWork{intake: in, out: out}
	w.progress = c.startProgress(f.progress.value, in.reader, true)
	_, err = ordered.Run(ctx, w, f.loop())
	w.progress.stop()
	if w.bad > 0 {
		c.log.Warn("bad records skipped", "records", w.bad)
	}
	if w.nulls > 0 {
		c.log.Warn("records without a text left out", "records", w.nulls)
	}
	return both(both(err, out.Commit()), in.close())
}

// qualityBatch is an item of the loop of rosaline quality.
type qualityBatch struct {
	chunk      *source.Chunk
	lines      []byte
	bad, nulls int
	measurer   *text.Measurer
}

// qualityWork is the work of rosaline quality. All of it is a Scan.
type qualityWork struct {
	*intake
	out        *output.File
	progress   *progress
	bad, nulls int // of what was written
	pool       sync.Pool
}

// Next implements [ordered.Work].
func (w *qualityWork) Next(ctx context.Context) (*qualityBatch, error) {
	chunk, err := w.next(ctx)
	if err != nil {
		return nil, err
	}
	b, ok := w.pool.Get().(*qualityBatch)
	if !ok {
		b = &qualityBatch{measurer: text.NewMeasurer()}
	}
	b.chunk = chunk
	return b, nil
}

// Scan implements [ordered.Work].
func (w *qualityWork) Scan(b *qualityBatch) error {
	records, err := w.decode(b.chunk)
	if records == nil {
		return err
	}
	b.lines, b.nulls, b.bad = b.lines[:0], 0, len(records.bad)
	for i := range records.text.Len() {
		if records.text.IsNull(i) {
			b.nulls++
			continue
		}
		b.lines = appendMetrics(records.appendID(b.lines, i), b.measurer.Measure(records.text.Bytes(i)))
	}
	return err
}

// appendMetrics appends the rest of a line of output behind the id.
func appendMetrics(dst []byte, m text.Metrics) []byte {
	dst = strconv.AppendInt(append(dst, `,"chars":`...), int64(m.Chars), 10)
	dst = strconv.AppendInt(append(dst, `,"words":`...), int64(m.Words), 10)
	dst = jsonl.AppendFloat(append(dst, `,"entropy":`...), m.Entropy)
	dst = jsonl.AppendFloat(append(dst, `,"repetition":`...), m.Repetition)
	dst = jsonl.AppendFloat(append(dst, `,"symbol_ratio":`...), m.SymbolRatio)
	return append(dst, "}\n"...)
}

// Resolve implements [ordered.Work].
func (w *qualityWork) Resolve(*qualityBatch) error { return nil }

// Emit implements [ordered.Work].
func (w *qualityWork) Emit(*qualityBatch) error { return nil }

// Write implements [ordered.Work].
func (w *qualityWork) Write(b *qualityBatch) error {
	if _, err := w.out.Write(b.lines); err != nil {
		return err
	}
	w.bad += b.bad
	w.nulls += b.nulls
	w.progress.set(w.reader.Progress())
	return nil
}

// Recycle implements [ordered.Work].
func (w *qualityWork) Recycle(b *qualityBatch) {
	b.chunk = nil // Scan has released it, unless the run is over
	w.pool.Put(b)
}
