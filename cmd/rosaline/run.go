package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rosaline-go/rosaline/cmd/rosaline/internal/output"
	"github.com/rosaline-go/rosaline/pipeline"
	"github.com/rosaline-go/rosaline/pipeline/source"
	"github.com/rosaline-go/rosaline/pipeline/text"
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

--state DIR makes the run resumable: after any stop the same command goes on at the
last commit, and the output is that of a run that was never stopped. It commits
every --commit-every batches, and when it is interrupted.

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
	j, err := c.newJob(f, flags, args)
	if err != nil {
		return err
	}
	if f.state != "" {
		return j.resumable(ctx)
	}
	return j.once(ctx)
}

// job is a run whose flags have been looked at.
type job struct {
	*command
	*runFlags
	flags   *pflag.FlagSet
	files   []source.Input
	stages  *text.FusedPipeline
	decode  *decoding
	started time.Time
}

// newJob finds the inputs of a run and makes its stages. Nothing is opened yet.
func (c *command) newJob(f *runFlags, flags *pflag.FlagSet, args []string) (*job, error) {
	j := &job{command: c, runFlags: f, flags: flags, started: time.Now()}
	if err := f.validate(); err != nil {
		return nil, err
	}
	var err error
	if j.files, err = c.expand(&f.inputFlags, args); err != nil {
		return nil, err
	}
	if f.fileFormat != output.JSONL {
		f.carryColumns(j.files)
	}
	if err := output.CheckClashes(f.outputs(), append(paths(j.files), f.piiFlags.files()...)); err != nil {
		return nil, &usageError{err}
	}
	if err := f.checkStateClashes(j.files); err != nil {
		return nil, err
	}
	if f.device.value == "cuda" {
		return nil, fmt.Errorf("--device cuda: %s; use --device auto or cpu", noDevice)
	}
	if j.stages, err = f.newPipeline(); err != nil {
		return nil, &usageError{err}
	}
	j.decode, err = f.newDecoding(c.pause)
	return j, err
}

// once does a run that begins and ends.
func (j *job) once(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // lets go of standard input
	in, err := j.open(ctx, &j.inputFlags, j.files)
	if err != nil {
		return err
	}
	e, err := j.newEngine(&j.engineFlags, cancel)
	if err != nil {
		return err
	}
	defer e.close()
	outputs, err := openOutputs(ctx, j.runFlags, j.command.out)
	if err != nil {
		return err
	}
	j.announce()
	w := j.newWriter(in, outputs)
	p := newRunPlan(j.runFlags, in, j.decode, j.stages, w, nil)
	stats, err := drive(e, p.plan, w.write)
	w.progress.stop()
	err = outputs.finish(err)
	if p.split != nil {
		w.tally.stats.Add(p.split.stats)
	}
	r := j.newReport(w, stats, err)
	if d := j.stages.Deduplicator(); d != nil {
		r.Dedup = dedupTotals{d.Position(), d.Bytes()}
	}
	return j.conclude(r, outputs.report, err)
}

// announce tells of what the flags have come to.
func (j *job) announce() {
	j.warnUnused(j.log, j.flags)
	j.log.Info("stages run on the CPU", "reason", j.deviceReason())
}

// newWriter makes what takes the batches of a run.
func (j *job) newWriter(in *intake, o *outputs) *writer {
	w := &writer{intake: in, out: o.out, rejects: o.rejects, pool: new(batchPool), pause: j.command.pause}
	w.tally.pii = j.stages.PII()
	w.progress = j.startProgress(j.runFlags.progress.value, in, j.runFlags.out == output.Stdout)
	return w
}

// newReport tells what a run that returned err has done.
func (j *job) newReport(w *writer, stats pipeline.Stats, err error) *report {
	r := &report{
		Schema: reportSchema, Build: thisBuild(), Flags: flagValues(j.flags), Inputs: paths(j.files),
		State: stateOf(err), Started: j.started.UTC(), Seconds: time.Since(j.started).Seconds(),
		totals: w.tally.totals(j.stages.Stages()),
		Engine: newEngineReport(&j.engineFlags, stats),
		Device: deviceReport{Requested: j.device.value, Used: "cpu", Reason: j.deviceReason()},
	}
	r.Source.Files = len(j.files)
	r.Bytes.Read, _ = w.intake.progress()
	r.Bytes.Written = w.out.Written()
	r.Throughput = newThroughput(&r.totals, r.Seconds)
	return r
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
