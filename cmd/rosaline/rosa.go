package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/rosaline-go/rosaline/cmd/rosaline/internal/output"
	"github.com/rosaline-go/rosaline/pipeline"
	"github.com/rosaline-go/rosaline/pipeline/source"
)

func (c *command) rosaCommand() *cobra.Command {
	f := &rosaFlags{}
	cmd := &cobra.Command{
		Use:   "rosa [flags] [FILE]",
		Short: "Predict what follows in token streams",
		Long: `Finds, for each token of a line, the newest earlier occurrence in that line of the
longest suffix that has one, and what followed there. A line of input is a stream,

  {"id":…,"tokens":[…]}

of whole numbers of 64 bits, or with --text raw text, whose bytes are the tokens.
A line of output has an entry a token, in the order of the lines of the input:

  {"id":…,"next":[…],"length":[…],"source":[…]}

next is the predicted token, source the position of the occurrence's last token, from
0, length how many tokens match; they are -1, -1 and 0 where nothing occurred before.

--candidates K,R adds more of them, from the K longest suffixes that occur at different
places, R occurrences each:

  "candidates":[[{"source":…,"length":…,"frequency":…,"occurrences":[…]},…],…]

a list a token, longest first. frequency counts all earlier occurrences, occurrences
are the newest, source the newest of those; one that a longer suffix has shown is not
shown again.

FILE is a file of any name, also with .gz or .zst; - or none is standard input. The
output does not depend on --threads.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("rosa reads one FILE, got %d; join them, or call it for each", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{source.Stdin}
			}
			return c.rosa(cmd.Context(), f, args[0])
		},
	}
	f.add(cmd.Flags())
	return cmd
}

// rosa is rosaline rosa.
func (c *command) rosa(ctx context.Context, f *rosaFlags, path string) error {
	if err := f.validate(path); err != nil {
		return err
	}
	files, err := c.expand(&f.inputFlags, []string{path})
	switch {
	case err != nil:
		return err
	case len(files) > 1:
		return usagef("%s matches %d files; name one", path, len(files))
	}
	if err := output.CheckClashes([]output.Use{{Role: "--output", Path: f.out}}, paths(files)); err != nil {
		return &usageError{err}
	}
	if f.device.value == "cuda" {
		return fmt.Errorf("--device cuda: %s; use --device auto or cpu", noDevice)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // lets go of standard input
	in, err := c.open(ctx, &f.inputFlags, files)
	if err != nil {
		return err
	}
	decode, err := f.newTokenizing(c.pause)
	if err != nil {
		return err
	}
	e, err := c.newEngine(&f.engineFlags, cancel)
	if err != nil {
		return err
	}
	out, err := openFile(ctx, f.out, c.out)
	if err != nil {
		return both(fmt.Errorf("--output: %w", err), e.close())
	}
	match := &matching{candidates: f.candidates, limit: maxAnswer, pause: c.pause}
	plan := configure(pipeline.Apply(pipeline.Apply(pipeline.From(in), decode), match), &f.engineFlags)
	progress := c.startProgress(f.progress.value, in, f.out == output.Stdout)
	bad := 0 // of what was written
	_, err = drive(e, plan, func(a *answers) error {
		c.pause()
		bad += a.rows.bad
		defer match.release(a)
		for {
			if _, err := out.Write(a.lines); err != nil {
				return err
			}
			progress.set(in.progress())
			if a.done {
				return nil
			}
			a.fill(match.limit)
		}
	})
	progress.stop()
	if bad > 0 {
		c.log.Warn("bad records skipped", "records", bad)
	}
	return both(complete(out, err), e.close())
}

// complete completes the output of a command that returned err, or leaves it under its
// partial name and says so.
func complete(out *output.File, err error) error {
	if err == nil {
		err = out.Commit()
	} else {
		err = alsoFailed(err, out.Abort())
	}
	if err != nil && out.Partial() != "" {
		err = fmt.Errorf("%w; what was written before is in %s", err, out.Partial())
	}
	return err
}

// isDirectory reports whether path is a folder that is there.
func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
