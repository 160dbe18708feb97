package main

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/cmd/rosaline/internal/output"
	"github.com/rosaline-go/rosaline/cmd/rosaline/internal/table"
	"github.com/rosaline-go/rosaline/pipeline"
)

// harness is rosaline run within a test, without outputs. It must be driven, which
// lets go of its inputs.
type harness struct {
	in     *intake
	decode *decoding
	plan   *pipeline.Pipeline[*batch]
	engine *engine
	writer *writer
}

// newHarness prepares a run of the inputs that args name, of standard input if they name
// none.
func newHarness(t require.TestingT, stdin io.Reader, args ...string) *harness {
	return pausingHarness(t, func() {}, nil, stdin, args...)
}

// pausingHarness calls pause before each step. Lines of rejects are made if there is a
// file for them.
func pausingHarness(t require.TestingT, pause func(), rejects target, stdin io.Reader, args ...string) *harness {
	c := newCommand(streams{stdin, io.Discard, io.Discard})
	c.log, c.pause = newLogger(io.Discard, slog.LevelError, false), pause
	f := &runFlags{}
	flags := pflag.NewFlagSet("run", pflag.ContinueOnError)
	f.add(flags)
	require.NoError(t, flags.Parse(args))
	require.NoError(t, f.validate())
	inputs := flags.Args()
	if len(inputs) == 0 {
		inputs = []string{"-"}
	}
	files, err := c.expand(&f.inputFlags, inputs)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	in, err := c.open(ctx, &f.inputFlags, files)
	require.NoError(t, err)
	decode, err := f.newDecoding(c.pause)
	require.NoError(t, err)
	stages, err := f.newPipeline()
	require.NoError(t, err)
	e, err := c.newEngine(&f.engineFlags, cancel)
	require.NoError(t, err)
	w := &writer{intake: in, rejects: rejects, pool: new(batchPool), pause: c.pause}
	return &harness{in, decode, newRunPlan(f, in, decode, stages, w, nil).plan, e, w}
}

// pause makes a step of a run take a random while.
func pause() {
	if d := rand.IntN(8); d < 3 {
		time.Sleep(time.Duration(d*30) * time.Microsecond)
	}
}

// runDelayed runs the pipeline of rosaline run with pauses before each step, and
// returns output and rejects.
func runDelayed(t require.TestingT, stdin string, args ...string) (out, rejects string) {
	var outBytes, rejectBytes bytes.Buffer
	rejectFile, err := output.Create(output.Stdout, &rejectBytes)
	require.NoError(t, err)
	h := pausingHarness(t, pause, rejectFile, bytes.NewReader([]byte(stdin)), args...)
	outFile, err := output.Create(output.Stdout, &outBytes)
	require.NoError(t, err)
	h.writer.out = newFileSink(outFile, output.JSONL, table.Columns{}, 1)
	_, err = drive(h.engine, h.plan, h.writer.write)
	require.NoError(t, err)
	return outBytes.String(), rejectBytes.String()
}
