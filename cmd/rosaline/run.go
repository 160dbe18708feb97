package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rosaline-go/rosaline/cmd/rosaline/internal/ordered"
	"github.com/rosaline-go/rosaline/cmd/rosaline/internal/output"
	"github.com/rosaline-go/rosaline/pipeline/source"
)

func (c *command) runCommand() *cobra.Command {
	f := &runFlags{}
	cmd := &cobra.Command{
		Use:   "run [flags] INPUT...",
		Short: "Clean, filter, deduplicate and mask records",
		Long: `Reads records, sends them through the stages, and writes those that survive, one
JSON object a line, in the order of the inputs:

  {"id":…,"text":…}

INPUT is a file, a folder, a pattern, or - for standard input: .jsonl, .ndjson,
.json or .txt, each also with .gz or .zst. The output does not depend on
--workers, --batch or --prefetch.

A file named by -o, --rejects or --report has the suffix .partial until it is
complete; a run that fails or is interrupted leaves it under that name.`,
		Args: inputArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.run(cmd.Context(), f, cmd.Flags(), args)
		},
	}
	f.add(cmd.Flags())
	return cmd
}

// run is rosaline run.
func (c *command) run(ctx context.Context, f *runFlags, flags *pflag.FlagSet, args []string) error {
	started := time.Now()
	if err := f.validate(); err != nil {
		return err
	}
	files, err := c.expand(&f.inputFlags, args)
	if err != nil {
		return err
	}
	if err := output.CheckClashes(f.outputs(), paths(files)); err != nil {
		return &usageError{err}
	}
	if f.device.value == "cuda" {
		return fmt.Errorf("--device cuda: %s; use --device auto or cpu", noDevice)
	}
	pipeline, err := f.newPipeline()
	if err != nil {
		return &usageError{err}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // lets go of standard input
	in, err := f.open(ctx, c.in, files)
	if err != nil {
		return err
	}
	outputs, err := openOutputs(ctx, f, c.out)
	if err != nil {
		return err
	}
	f.warnUnused(c.log, flags)
	c.log.Info("stages run on the CPU", "reason", f.deviceReason())

	w := &runWork{
		intake: in, pipeline: pipeline, out: outputs.out, rejects: outputs.rejects,
		tokens: f.tokenizer.value == "bytes",
	}
	w.progress = c.startProgress(f.progress.value, in.reader, f.out == output.Stdout)
	cfg := f.loop()
	stats, err := ordered.Run(ctx, w, cfg)
	w.progress.stop()
	err = outputs.finish(both(err, in.close()))

	r := &report{
		Schema: reportSchema, Build: thisBuild(), Flags: flagValues(flags), Inputs: paths(files),
		State: stateOf(err), Started: started.UTC(), Seconds: time.Since(started).Seconds(),
		totals: w.tally.totals(pipeline.Stages()),
		Loop:   newLoopReport(cfg, f.batch.n, stats),
		Device: deviceReport{Requested: f.device.value, Used: "cpu", Reason: f.deviceReason()},
	}
	r.Source.Files = len(files)
	r.Bytes.Read, _ = in.reader.Progress()
	r.Bytes.Written = outputs.out.Written()
	r.Throughput = newThroughput(&r.totals, r.Seconds)
	if d := pipeline.Deduplicator(); d != nil {
		r.Dedup = dedupTotals{d.Position(), d.Bytes()}
	}
	return c.conclude(r, outputs.report, err)
}

// deviceReason is why the stages run where they do.
func (f *runFlags) deviceReason() string {
	if f.device.value == "cpu" {
		return "--device cpu"
	}
	return noDevice
}

func paths(files []source.Input) []string {
	out := make([]string, len(files))
	for i, f := range files {
		out[i] = f.Path
	}
	return out
}

// stateOf says how a run that returned err has ended.
func stateOf(err error) string {
	switch {
	case err == nil:
		return stateDone
	case isInterrupt(err):
		return stateInterrupted
	}
	return stateFailed
}
