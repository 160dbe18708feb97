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
)

func (c *command) inspectCommand() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "inspect [flags] PATH",
		Short: "Say what an Arrow or Parquet file holds, and whether it is sound",
		Long: `Says what PATH is, an Arrow file or stream or a Parquet file: its columns, rows,
record batches or row groups, compression and sizes. All of it is read and checked:
offsets, views and UTF-8 of Arrow, every page of Parquet and the counts of rows.
Nothing is written.

Exit codes: 0 sound, 1 not sound or not readable, 2 wrong usage.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("PATH is missing, or there are several: name one file")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return c.inspect(cmd.Context(), args[0], asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// inspect is rosaline inspect.
func (c *command) inspect(ctx context.Context, path string, asJSON bool) error {
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		return &notYetError{"inspect", path + " is a folder; state folders come with a later version, name an Arrow or Parquet file"}
	}
	r, err := inspection.File(ctx, path)
	switch {
	case errors.Is(err, inspection.ErrKind) && promisesTable(path):
		return fmt.Errorf("not sound: %w; get the file again, or write it anew", err)
	case errors.Is(err, inspection.ErrKind):
		return &notYetError{"inspect", err.Error() + "; name an Arrow or Parquet file"}
	}
	if err != nil {
		var named *fs.PathError
		if !errors.As(err, &named) && !isInterrupt(err) {
			err = fmt.Errorf("%s: %w", path, err)
		}
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
	if err == nil && !r.Sound {
		means, do := r.Fault.Verdict()
		err = fmt.Errorf("%s: %s: %s; %s", path, means, r.Fault, do)
	}
	return err
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
