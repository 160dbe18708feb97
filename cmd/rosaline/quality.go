package main

import (
	"context"
	"strconv"
	"sync"

	"github.com/spf13/cobra"

	"github.com/rosaline-go/rosaline/cmd/rosaline/internal/jsonl"
	"github.com/rosaline-go/rosaline/cmd/rosaline/internal/output"
	"github.com/rosaline-go/rosaline/pipeline"
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
	in, err := c.open(ctx, f, files)
	if err != nil {
		return err
	}
	decode, err := f.newDecoding(c.pause)
	if err != nil {
		return err
	}
	e, err := c.newEngine(&f.engineFlags, cancel)
	if err != nil {
		return err
	}
	out, err := output.Create(output.Stdout, c.out)
	if err != nil {
		return both(err, e.close())
	}
	bad, nulls := 0, 0 // of what was written
	measure := &measuring{pause: c.pause}
	plan := configure(pipeline.Apply(pipeline.Apply(pipeline.From(in), decode), measure), &f.engineFlags)
	progress := c.startProgress(f.progress.value, in, true)
	_, err = drive(e, plan, func(b *measured) error {
		c.pause()
		if _, err := out.Write(b.lines); err != nil {
			return err
		}
		bad += b.bad
		nulls += b.nulls
		progress.set(in.progress())
		measure.pool.Put(b)
		return nil
	})
	progress.stop()
	if bad > 0 {
		c.log.Warn("bad records skipped", "records", bad)
	}
	if nulls > 0 {
		c.log.Warn("records without a text left out", "records", nulls)
	}
	return both(both(err, out.Commit()), e.close())
}

// measured are the lines about some records.
type measured struct {
	lines      []byte
	bad, nulls int
	measurer   *text.Measurer
}

// measuring is the stage that measures texts and writes lines about them.
type measuring struct {
	pool  sync.Pool // *measured
	pause func()
}

// Name implements [pipeline.Named].
func (*measuring) Name() string { return "measure" }

// Apply implements [pipeline.Transform].
func (m *measuring) Apply(_ context.Context, r *records, emit func(*measured)) error {
	m.pause()
	if r.err != nil {
		return r.err
	}
	b, ok := m.pool.Get().(*measured)
	if !ok {
		b = &measured{measurer: text.NewMeasurer()}
	}
	b.lines, b.nulls, b.bad = b.lines[:0], 0, len(r.bad)
	for i := range r.text.Len() {
		if r.text.IsNull(i) {
			b.nulls++
			continue
		}
		b.lines = appendMetrics(r.appendID(b.lines, i), b.measurer.Measure(r.text.Bytes(i)))
	}
	emit(b)
	return nil
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
