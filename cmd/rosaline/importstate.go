package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rosaline-go/rosaline/cmd/rosaline/internal/output"
	"github.com/rosaline-go/rosaline/pipeline"
	"github.com/rosaline-go/rosaline/pipeline/resume"
	"github.com/rosaline-go/rosaline/pipeline/text"
)

// importFlags are those of rosaline import-state: those of the run that goes on, and where it
// comes from.
type importFlags struct {
	runFlags
	from, fromDedup string // paths
	fromRows        rowsValue
}

// rowsValue is the flag --from-rows.
type rowsValue struct {
	countValue
	set bool
}

func (v *rowsValue) String() string {
	if !v.set {
		return "checkpoint"
	}
	return v.countValue.String()
}

func (v *rowsValue) Set(s string) error {
	err := v.countValue.Set(s)
	v.set = v.set || err == nil
	return err
}

func (c *command) importCommand() *cobra.Command {
	f := &importFlags{}
	cmd := &cobra.Command{
		Use:   "import-state [flags] --state DIR --from CHECKPOINT INPUT...",
		Short: "Make the state of a run out of a checkpoint of luminamoon",
		Long: `Makes the folder of --state for a run that goes on where luminamoon 1.0.6 stopped.
Flags and inputs are those of that run: afterwards

  rosaline run --state DIR [the same flags] INPUT...

writes what follows. The inputs must be those that luminamoon was given, in their order.

CHECKPOINT says how many rows were taken. A row is a line that is not blank, or a row
of a table, whether it is a record or not. With a FusedPipeline it may stand ahead of
what was delivered, by up to two batches: look where the outputs of luminamoon end, and
put the place back with --from-rows. A small row group of Parquet is read as a whole, so
the place must be at one of its ends.

Texts whose hashes are in the dedup file count as duplicates in the first epoch. With
prefetch, or a FusedPipeline, that file may know texts that were never delivered, which
would be dropped. --from-dedup "" begins without hashes. Where there are as many hashes
as texts that were delivered, neither has happened; else a message tells the numbers.

The files of luminamoon are not changed. DIR must be new, and so must the outputs: what
luminamoon has written stays where it is. Exit codes are those of rosaline run.`,
		Args: inputArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.importState(cmd.Context(), f, cmd.Flags(), args)
		},
	}
	flags := cmd.Flags()
	f.add(flags)
	flags.StringVar(&f.from, "from", "", "read the checkpoint `FILE` of luminamoon")
	flags.StringVar(&f.fromDedup, "from-dedup", "", "read hashes of texts that came before from its dedup `FILE`; without the flag CHECKPOINT.dedup if it has any")
	f.fromRows.high = math.MaxInt
	flags.Var(&f.fromRows, "from-rows", "rows of the inputs that were taken, if the checkpoint is not right")
	return cmd
}

// importMark is where a run began that another program had begun.
type importMark struct {
	From     string          `json:"from"`     // path of the checkpoint
	Batch    uint64          `json:"batch"`    // that was committed last
	Row      uint64          `json:"row"`      // samples that were delivered, by the checkpoint
	Rows     int64           `json:"rows"`     // of the inputs that were taken, over all of them
	Hashes   int             `json:"hashes"`   // that count as duplicates
	Position json.RawMessage `json:"position"` // behind those rows, as the source tells it
}

// importState is rosaline import-state.
func (c *command) importState(ctx context.Context, f *importFlags, flags *pflag.FlagSet, args []string) error {
	switch {
	case f.state == "":
		return usagef("--state is missing: name the folder to be made")
	case f.from == "":
		return usagef("--from is missing: name a checkpoint of luminamoon")
	}
	j, err := c.newJob(&f.runFlags, flags, args)
	if err != nil {
		return err
	}
	j.report = "" // there is nothing to be told
	if err := f.checkImport(j); err != nil {
		return err
	}
	j.warnUnused(j.log, flags)
	taken, err := resume.ReadLuminamoon(f.from)
	if err != nil {
		return fmt.Errorf("--from: %w", err)
	}
	hashes, err := f.readHashes(j)
	if err != nil {
		return err
	}
	mark := &importMark{From: strings.ToValidUTF8(f.from, "�"), Batch: taken.Batch, Row: taken.Row, Rows: int64(taken.RowInPage), Hashes: len(hashes)}
	if f.fromRows.set {
		mark.Rows = int64(f.fromRows.n)
	}
	f.warn(j.log, &taken, mark)
	if mark.Position, err = j.behindRows(ctx, mark.Rows); err != nil {
		return f.rowsError(err)
	}
	r := &resumableRun{job: j, fresh: true, imports: true, before: runMark{Import: mark}}
	if err := r.make(hashes); err != nil {
		return err
	}
	where := r.coordinate(pipeline.SourceMark{})
	fmt.Fprintf(c.err, "rows passed over  %d, up to %s\nhashes taken      %d\ngo on with        %s\n",
		mark.Rows, where, mark.Hashes, printable(c.commandAfterImport()))
	return nil
}

// checkImport finds what cannot be imported.
func (f *importFlags) checkImport(j *job) error {
	if f.shard.on {
		return usagef("--shard: luminamoon has no parts, its rows are those of all inputs; leave it out")
	}
	for _, in := range j.files {
		if readOnce(in.Path) {
			return usagef("%s can be read once, and the rows that were taken are passed over; write it to a file first", in.Path)
		}
	}
	for _, path := range []string{f.from, f.dedupFile()} {
		if err := output.CheckClashes(f.outputs(), []string{path}); err != nil {
			return &usageError{err}
		}
	}
	entries, err := os.ReadDir(f.state)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("--state: %w", err)
	case len(entries) > 0:
		return usagef("--state %s is not empty, and an import begins a new folder; name another one", f.state)
	}
	return nil
}

// dedupFile is the path of the dedup file.
func (f *importFlags) dedupFile() string {
	if f.fromDedup != "" {
		return f.fromDedup
	}
	return f.from + ".dedup"
}

// readHashes reads the hashes of luminamoon, which come back in order and without repeats; none
// if they are not to be used.
func (f *importFlags) readHashes(j *job) ([]uint64, error) {
	hashes, asked := []uint64{}, j.flags.Changed("from-dedup")
	switch {
	case asked && f.fromDedup == "":
		return hashes, nil
	case j.stages.Deduplicator() == nil:
		if asked {
			j.log.Warn("flag has no effect: nothing is deduplicated", "flag", "--from-dedup")
		}
		return hashes, nil
	}
	name := f.dedupFile()
	err := resume.ReadLuminamoonHashes(name, func(words []uint64) error {
		hashes = append(hashes, words...)
		return nil
	})
	switch {
	case !asked && errors.Is(err, fs.ErrNotExist):
		return hashes, nil
	case err != nil:
		return nil, fmt.Errorf("--from-dedup: %w", err)
	case len(hashes) == 0:
		j.log.Warn("the dedup file is empty: luminamoon truncates CHECKPOINT.dedup whenever it opens a checkpoint; name a copy with --from-dedup, or duplicates of earlier rows come again", "file", name)
		return hashes, nil
	}
	if stages := f.activeStages(); slices.Index(stages, text.StagePII) < slices.Index(stages, text.StageDedup) && slices.Contains(stages, text.StagePII) {
		j.log.Warn("the hashes are of texts before masking, and --stages masks before it deduplicates: they will not be found again in texts with personal data")
	}
	slices.Sort(hashes)
	return slices.Compact(hashes), nil
}

// warn tells of what luminamoon may have left that does not fit together. Each text that it has
// delivered is a sample of the checkpoint and, if it deduplicates, a hash: where there are as
// many, all does.
func (f *importFlags) warn(log *slog.Logger, taken *resume.LuminamoonCheckpoint, m *importMark) {
	hashes := uint64(m.Hashes)
	if hashes != m.Row && m.Rows > 0 && !f.fromRows.set {
		log.Warn("the checkpoint may be ahead of what was delivered, by up to two batches with a FusedPipeline: look where the outputs of luminamoon end; --from-rows puts the place back",
			"rows", m.Rows, "delivered", m.Row)
	}
	switch {
	case hashes == 0:
	case m.Rows < int64(taken.RowInPage):
		log.Warn("rows are read again: texts that the dedup file knows are dropped as duplicates, delivered or not; --from-dedup '' begins without hashes",
			"from", m.Rows, "to", taken.RowInPage)
	case hashes > m.Row:
		log.Warn("the dedup file also knows texts that were never delivered, or those of other runs: they would be dropped as duplicates; --from-dedup '' begins without hashes",
			"hashes", hashes, "delivered", m.Row)
	case hashes < m.Row:
		log.Warn("the dedup file knows fewer texts than were delivered: duplicates of the others come again", "hashes", hashes, "delivered", m.Row)
	}
}

// errWithinGroup is returned for a place at which the inputs cannot be opened.
var errWithinGroup = errors.New("the place is within a row group that is read as a whole")

// errFewRows is returned when the inputs have fewer rows than were taken.
var errFewRows = errors.New("the inputs have fewer rows")

// rowsError says whose number of rows it is that the inputs do not have.
func (f *importFlags) rowsError(err error) error {
	flag := "--from " + f.from
	if f.fromRows.set {
		flag = "--from-rows"
	}
	switch {
	case errors.Is(err, errFewRows):
		return fmt.Errorf("%s: %w; give the inputs of that run, all of them", flag, err)
	case errors.Is(err, errWithinGroup):
		return fmt.Errorf("%s: %w", flag, err)
	}
	return err
}

// passChunk is how many lines or rows are passed over at once.
const passChunk = 4096

// behindRows returns the position in the inputs behind so many rows. It reads the inputs up to
// there, and decodes none of them; what is compressed in one piece it decompresses twice. The
// error is [errFewRows], [errWithinGroup], or that of an input.
func (j *job) behindRows(ctx context.Context, rows int64) (json.RawMessage, error) {
	at := inputPlace{}
	for _, step := range []int{passChunk, 1} {
		next, err := j.passOver(ctx, at, rows, step)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			return nil, err
		}
		at = next
	}
	if at.index < rows {
		return nil, fmt.Errorf("%w: %d, and %d were taken", errFewRows, at.index, rows)
	}
	if j.epochs.n == 0 {
		// The engine ends an endless run at the first epoch that has nothing.
		next, err := j.passOver(ctx, at, rows+1, 1)
		switch {
		case errors.Is(err, errWithinGroup):
			err = nil // something is left
		case err == nil && next.index == rows:
			err = usagef("--epochs 0: all %d rows were taken, and nothing is left of the first epoch; begin with rosaline run, or give a number of epochs", rows)
		}
		if err != nil {
			return nil, err
		}
	}
	return at.position, nil
}

// inputPlace is a place between two rows of the inputs.
type inputPlace struct {
	position json.RawMessage
	index    int64 // rows before it, over all inputs
}

// passOver goes on from a place in steps of so many rows, blank lines included, as long as no
// more than rows are before it.
func (j *job) passOver(ctx context.Context, at inputPlace, rows int64, step int) (inputPlace, error) {
	f := j.inputFlags
	f.batch.n, f.strict = step, false
	in, err := j.open(ctx, &f, j.files)
	if err != nil {
		return at, err
	}
	cursor, err := in.Open(ctx, pipeline.Start{Position: at.position})
	if err != nil {
		return at, err
	}
	defer cursor.Close()
	var bar *progress
	if step > 1 {
		bar = j.startProgress(f.progress.value, in, false)
		defer bar.stop()
	}
	for err == nil {
		if at, err = placeOf(cursor); err != nil || at.index+int64(step) > rows || ctx.Err() != nil {
			return at, err
		}
		chunk, failed := cursor.Next(ctx)
		if err = failed; err != nil {
			break
		}
		file := chunk.File
		chunk.Release()
		bar.set(in.progress())
		// A small row group of Parquet comes as a whole, whatever the step.
		if next, failed := placeOf(cursor); failed == nil && next.index > rows {
			return at, fmt.Errorf("%w: %d rows were taken, and one of %s has those from %d up to %d; --from-rows %d begins with it, and drops what the dedup file knows of it",
				errWithinGroup, rows, file, at.index, next.index, at.index)
		}
	}
	if err != io.EOF {
		return at, err
	}
	return placeOf(cursor)
}

// placeOf is where a cursor of the inputs stands.
func placeOf(cursor any) (at inputPlace, err error) {
	if at.position, err = json.Marshal(cursor.(pipeline.Positioner).Position()); err != nil {
		return at, err
	}
	var p struct{ Index int64 }
	err = json.Unmarshal(at.position, &p)
	at.index = p.Index
	return at, err
}

// make makes the folder of the run, with a commit of its beginning.
func (r *resumableRun) make(hashes []uint64) (err error) {
	inputs, cancel := context.WithCancel(context.Background())
	defer cancel()
	// What is wrong with them is told before there is a folder.
	if err := r.openOutputs(); err != nil {
		return err
	}
	// Their file is there even if there are none: it tells a folder whose import came to no end
	// from one of a run that has not begun.
	run, err := r.openRun(inputs, resume.WithKnown(hashes))
	if err == nil {
		err = run.Commit()
		cancel()
		if err = both(err, run.Close()); err != nil {
			err = stateError(err)
		}
	}
	return both(err, r.abort(true))
}

// importFlag is how the flags begin that are those of import-state alone.
var importFlag = regexp.MustCompile(`^--from(-dedup|-rows)?(=|$)`)

// commandAfterImport is the command line of the run that goes on: that of the import without
// its own flags.
func (c *command) commandAfterImport() string {
	out, named := []string{"rosaline"}, false
	for i := 0; i < len(c.args); i++ {
		a := c.args[i]
		if a == "--" {
			for ; i < len(c.args); i++ {
				out = append(out, quoted(c.args[i]))
			}
			break
		}
		switch m := importFlag.FindStringSubmatch(a); {
		case m != nil:
			if m[2] == "" {
				i++ // its value
			}
		case a == "import-state" && !named:
			out, named = append(out, "run"), true
		default:
			out = append(out, quoted(a))
		}
	}
	return strings.Join(out, " ")
}

// plainWord is one that a shell takes as it is.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// quoted is a word for a POSIX shell.
func quoted(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
