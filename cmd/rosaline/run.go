package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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
.json, .txt, .csv, .tsv, .arrow, .feather, .ipc, .warc or .wet, each also with .gz or
.zst, or .parquet. The output does not depend on --workers, --batch or --prefetch.

--shuffle changes the order, as a function of --seed, the epoch and the shard
alone. Each epoch is deduplicated on its own. --unordered writes batches as they
are done: which of several duplicates is kept then depends on timing.

--shard R/W takes every Wth line or row that is not blank, from the Rth on. With
--shard-mode pad the last parts repeat a line of the beginning, marked by
"padded":true, and with drop the last lines are left out, so that all parts have
as many; stages that drop records come after that.

-o NAME.arrow or NAME.parquet writes a table. A folder gets numbered parts,
part-00000.jsonl and so on, of --shard-size bytes; the parts of an earlier run there
are kept unless --overwrite is given.

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
	if f.fileFormat != output.JSONL {
		f.carryColumns(files)
	}
	if err := output.CheckClashes(f.outputs(), append(paths(files), f.piiFlags.files()...)); err != nil {
		return &usageError{err}
	}
	if f.device.value == "cuda" {
		return fmt.Errorf("--device cuda: %s; use --device auto or cpu", noDevice)
	}
	stages, err := f.newPipeline()
	if err != nil {
		return &usageError{err}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // lets go of standard input
	in, err := c.open(ctx, &f.inputFlags, files)
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
	defer e.close()
	outputs, err := openOutputs(ctx, f, c.out)
	if err != nil {
		return err
	}
	f.warnUnused(c.log, flags)
	c.log.Info("stages run on the CPU", "reason", f.deviceReason())

	w := &writer{intake: in, out: outputs.out, rejects: outputs.rejects, pool: new(batchPool), pause: c.pause}
	w.tally.pii = stages.PII()
	w.progress = c.startProgress(f.progress.value, in, f.out == output.Stdout)
	p := newRunPlan(f, in, decode, stages, w)
	stats, err := drive(e, p.plan, w.write)
	w.progress.stop()
	err = outputs.finish(err)
	if p.split != nil {
		w.tally.stats.Add(p.split.stats)
	}

	r := &report{
		Schema: reportSchema, Build: thisBuild(), Flags: flagValues(flags), Inputs: paths(files),
		State: stateOf(err), Started: started.UTC(), Seconds: time.Since(started).Seconds(),
		totals: w.tally.totals(stages.Stages()),
		Engine: newEngineReport(&f.engineFlags, stats),
		Device: deviceReport{Requested: f.device.value, Used: "cpu", Reason: f.deviceReason()},
	}
	r.Source.Files = len(files)
	r.Bytes.Read, _ = in.progress()
	r.Bytes.Written = outputs.out.Written()
	r.Throughput = newThroughput(&r.totals, r.Seconds)
	if d := stages.Deduplicator(); d != nil {
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
