package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"time"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "text:", err)
		os.Exit(1)
	}
}

// config is what the flags say.
type config struct {
	data     string
	rosaline string
	jobs     *regexp.Regexp
	limits   limits
}

func run(args []string, out io.Writer) error {
	cfg, err := parse(args)
	if err != nil {
		return err
	}
	enc := json.NewEncoder(out)
	if err := enc.Encode(map[string]string{"system": "rosaline", "version": version()}); err != nil {
		return err
	}
	for _, name := range []string{"short", "med", "docs"} {
		if err := cfg.measureSet(name, columnSpecs(), enc); err != nil {
			return err
		}
	}
	for _, name := range []string{"docs", "prose", "cjk", "pii"} {
		if err := cfg.measureSet(name, textSpecs(), enc); err != nil {
			return err
		}
	}
	if cfg.rosaline == "" {
		return nil
	}
	return cfg.measureFile("docs", enc)
}

func parse(args []string) (config, error) {
	var cfg config
	f := flag.NewFlagSet("text", flag.ContinueOnError)
	f.StringVar(&cfg.data, "data", "", "`folder` of the data sets")
	f.StringVar(&cfg.rosaline, "rosaline", "", "the rosaline `command`; without it files are not timed")
	f.StringVar(&cfg.limits.checks, "checks", "", "`folder` for the CRC-32 of each result row")
	f.StringVar(&cfg.limits.profile, "cpuprofile", "", "`file` for a CPU profile; needs -jobs to select one job")
	f.DurationVar(&cfg.limits.minTime, "min-time", 150*time.Millisecond, "how long a job is repeated")
	f.IntVar(&cfg.limits.maxReps, "max-reps", 9, "most repetitions of a job")
	jobs := f.String("jobs", "", "only jobs whose job@data@form matches this `regexp`")
	if err := f.Parse(args); err != nil {
		return cfg, err
	}
	if cfg.data == "" {
		return cfg, errors.New("-data is missing: name the folder that dataset.py wrote")
	}
	if cfg.limits.maxReps < 1 {
		return cfg, fmt.Errorf("-max-reps is %d, want 1 or more", cfg.limits.maxReps)
	}
	var err error
	cfg.jobs, err = regexp.Compile(*jobs)
	return cfg, err
}

// measureSet times the jobs that were asked for on one data set, which is
// loaded only if there are any. A set that was not made is passed over: the
// prose is there only with the corpus.
func (cfg config) measureSet(name string, specs []spec, enc *json.Encoder) error {
	var set *dataset
	for _, s := range specs {
		line := line{Job: s.job, Data: name, Form: s.form}
		if !cfg.jobs.MatchString(line.key()) {
			continue
		}
		if set == nil {
			var err error
			set, err = readDataset(filepath.Join(cfg.data, name+".col"))
			if errors.Is(err, fs.ErrNotExist) && name == "prose" {
				return nil
			}
			if err != nil {
				return err
			}
		}
		w, err := s.bind(set)
		if err != nil {
			return fmt.Errorf("%s: %w", line.key(), err)
		}
		line.Items, line.Bytes = len(set.rows), int64(len(set.payload))
		if err := cfg.limits.measure(line, w, enc); err != nil {
			return err
		}
	}
	return nil
}

// measureFile times `rosaline run` on the JSONL form of a data set.
func (cfg config) measureFile(name string, enc *json.Encoder) error {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	f := files{command: cfg.rosaline, in: filepath.Join(cfg.data, name+".jsonl"), out: filepath.Join(dir, "out.jsonl")}
	lines, bytes, err := f.size()
	if err != nil {
		return err
	}
	for _, s := range fileSpecs() {
		line := line{Job: s.job, Data: name, Form: s.form, Items: lines, Bytes: bytes}
		if !cfg.jobs.MatchString(line.key()) {
			continue
		}
		if err := cfg.limits.measure(line, f.work(s.stages), enc); err != nil {
			return err
		}
	}
	return nil
}

// version returns the version of the module as the build recorded it.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
