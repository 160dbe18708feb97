package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rosaline-go/rosaline/cmd/rosaline/internal/inspection"
	"github.com/rosaline-go/rosaline/cmd/rosaline/internal/output"
	"github.com/rosaline-go/rosaline/pipeline/resume"
)

func (c *command) inspectCommand() *cobra.Command {
	asJSON, repair := false, false
	cmd := &cobra.Command{
		Use:   "inspect [flags] PATH",
		Short: "Say what a file or the state of a run holds, and whether it is sound",
		Long: `Says what PATH is, and reads and checks all of it:

  an Arrow file or stream,  columns, rows, record batches or row groups, compression,
  a Parquet file            sizes; offsets, views and UTF-8 of Arrow, every page of
                            Parquet, and the counts of rows are checked
  the folder of --state     how far the run is, its options, both slots of its tracker,
                            its log; whether the run can go on
  its tracker or its log    what is in that file alone
  files of luminamoon       a checkpoint; the hashes of a dedup file, *.dedup or *.wal

A run may be active meanwhile. What a crash leaves in a folder is told of and is sound:
one bad slot of the tracker, and what the log has behind the last commit. The run mends
it when it goes on. --repair cuts a torn tail off the log of a run that is not active,
and nothing else; without it nothing is written.

Exit codes: 0 sound, 1 not sound or not readable, 2 wrong usage.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("PATH is missing, or there are several: name one file or folder")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.inspect(cmd.Context(), args[0], asJSON, repair)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	cmd.Flags().BoolVar(&repair, "repair", false, "first cut a torn tail off the log of a run")
	return cmd
}

// inspect is rosaline inspect.
func (c *command) inspect(ctx context.Context, path string, asJSON, repair bool) error {
	r, err := inspected(ctx, path, repair)
	if err != nil {
		return err
	}
	if asJSON {
		e := json.NewEncoder(c.out)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		err = e.Encode(r)
	} else {
		err = r.WriteText(c.out)
	}
	return both(err, r.Problem())
}

// inspected finds out what is at a path.
func inspected(ctx context.Context, path string, repair bool) (inspection.Result, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		r, err := inspection.Folder(ctx, path, repair)
		switch {
		case errors.Is(err, resume.ErrForeign) && repair:
			return nil, usagef("--repair: %w; name the folder of --state", err)
		case errors.Is(err, resume.ErrForeign):
			return nil, fmt.Errorf("%w; name the folder of --state, or a file", err)
		case err != nil && repair && !isInterrupt(err):
			return nil, fmt.Errorf("--repair: %w", err)
		case err != nil:
			return nil, err
		}
		return r, nil
	} else if err == nil && repair {
		return nil, usagef("--repair: %s is no folder; name that of --state", path)
	}
	r, err := inspection.File(ctx, path)
	switch {
	case errors.Is(err, inspection.ErrKind) && promisesTable(path):
		return nil, fmt.Errorf("not sound: %w; get the file again, or write it anew", err)
	case errors.Is(err, inspection.ErrKind):
		s, failed := inspection.State(ctx, path)
		if errors.Is(failed, inspection.ErrKind) {
			return nil, usagef("%w; name one of them", err)
		}
		return s, failed
	case err != nil:
		var named *fs.PathError
		if !errors.As(err, &named) && !isInterrupt(err) {
			err = fmt.Errorf("%s: %w", path, err)
		}
		return nil, err
	}
	return r, nil
}

// promisesTable reports whether a file should be Arrow or Parquet by its name, complete or
// not.
func promisesTable(path string) bool {
	switch filepath.Ext(strings.ToLower(strings.TrimSuffix(path, output.PartialSuffix))) {
	case ".arrow", ".arrows", ".feather", ".ipc", ".parquet":
		return true
	}
	return false
}
