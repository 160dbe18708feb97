package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rosaline-go/rosaline/cmd/rosaline/internal/output"
)

// outputFlags say where a run writes, and what.
type outputFlags struct {
	out, rejects, report string
	outFormat            outFormatValue
	shardSize            sizeValue
	shardRows            countValue
	overwrite            bool

	fileFormat output.Format // of the output; set by validate
	folder     bool          // the output is a folder of parts; set by validate
}

// defaultShardSize is where a part of a folder ends, in bytes.
const defaultShardSize = 256 << 20

// outFormatValue is the flag --out-format. Unless it is set, the name of the output
// decides.
type outFormatValue struct {
	choiceValue
	set bool
}

func (v *outFormatValue) Set(s string) error {
	err := v.choiceValue.Set(s)
	v.set = v.set || err == nil
	return err
}

func (f *outputFlags) add(flags *pflag.FlagSet) {
	flags.StringVarP(&f.out, "output", "o", output.Stdout, "write the output to `PATH`, - for standard output; .gz and .zst are compressed; a folder, or a name that ends in /, gets numbered parts")
	f.outFormat.choiceValue = choice(string(output.JSONL), string(output.JSONL), string(output.Arrow), string(output.Parquet))
	flags.Var(&f.outFormat, "out-format", "what the output holds: jsonl, arrow or parquet; the extension of -o says it too")
	f.shardSize = sizeValue{n: defaultShardSize, low: 1, high: 1 << 50}
	flags.Var(&f.shardSize, "shard-size", "of a folder: end a part at this many bytes of records, before compression")
	f.shardRows = countValue{high: 1<<31 - 1, low: 1, auto: true}
	flags.Var(&f.shardRows, "shard-rows", "of a folder: end a part at this many records too; auto for no bound")
	flags.BoolVar(&f.overwrite, "overwrite", false, "of a folder: remove the parts of an earlier run first")
	flags.StringVar(&f.rejects, "rejects", "", "write dropped records to `PATH`, one JSON object a line")
	flags.StringVar(&f.report, "report", "", "write a report of the run to `PATH`, as JSON")
}

// validate finds contradictions, and what the output is.
func (f *outputFlags) validate() error {
	for _, p := range []struct{ flag, path string }{{"--output", f.out}, {"--rejects", f.rejects}, {"--report", f.report}} {
		if err := checkOutputPath(p.flag, p.path); err != nil {
			return err
		}
	}
	var asked output.Format
	if f.outFormat.set {
		asked = output.Format(f.outFormat.value)
	}
	f.folder = isFolder(f.out)
	name := f.out
	if f.folder {
		name = "" // what is in it is named by the format
	}
	var err error
	if f.fileFormat, err = output.FormatOf(name, asked); err != nil {
		return usagef("--output: %w", err)
	}
	return nil
}

// checkOutputPath refuses what cannot be the name of an output.
func checkOutputPath(flag, path string) error {
	switch {
	case path == "" && flag == "--output":
		return usagef("%s is empty; leave it out or use - for standard output", flag)
	case path == "" || path == output.Stdout || flag == "--output":
		return nil
	case isFolder(path):
		return usagef("%s %s is a folder; name a file", flag, path)
	}
	if format, err := output.FormatOf(path, ""); err != nil || format != output.JSONL {
		return usagef("%s %s promises another format than JSON; use another extension", flag, path)
	}
	return nil
}

// isFolder reports whether path is a folder, or named as one.
func isFolder(path string) bool {
	if path == "" || path == output.Stdout {
		return false
	}
	info, err := os.Stat(path)
	if err == nil {
		return info.IsDir()
	}
	return os.IsPathSeparator(path[len(path)-1]) || strings.HasSuffix(filepath.ToSlash(path), "/.")
}

// outputs lists the files that the run writes.
func (f *outputFlags) outputs() []output.Use {
	return []output.Use{{Role: "--output", Path: f.out, Folder: f.folder}, {Role: "--rejects", Path: f.rejects}, {Role: "--report", Path: f.report}}
}
