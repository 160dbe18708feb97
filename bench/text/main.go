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

	"github.com/rosaline-go/rosaline/bench/text/internal/measure"
	"github.com/rosaline-go/rosaline/cpu"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "text:", err)
		os.Exit(1)
	}
}

// config is what the flags say.
type config struct {
	measure.Session

	rosaline string
	workers  int
	levels   bool
}

func run(args []string, out io.Writer) error {
	cfg, err := parse(args)
	if err != nil {
		return err
	}
	if cfg.levels {
		for l := cpu.Generic; l <= cpu.Best(); l++ {
			fmt.Fprintln(out, l)
		}
		return nil
	}
	// A level that could not be had must not be measured under its name.
	if _, err := cpu.Forced(); err != nil {
		return err
	}
	enc := json.NewEncoder(out)
	version := fmt.Sprintf("%s (%v)", measure.Version(""), cpu.Active())
	if err := enc.Encode(map[string]string{"system": "rosaline", "version": version}); err != nil {
		return err
	}
	if cfg.workers > 1 {
		return cfg.parallel(enc)
	}
	return cfg.single(enc)
}

// single times the jobs of one worker.
func (cfg *config) single(enc *json.Encoder) error {
	for _, s := range []struct {
		sets  []string
		specs []measure.Spec
	}{
		{columnSets, columnSpecs()},
		{textSets, textSpecs()},
		{lineSets, fieldSpecs()},
		{columnSets[:1], setSpecs()},
	} {
		for _, name := range s.sets {
			if err := cfg.Set(name, s.specs, enc); err != nil {
				return err
			}
		}
	}
	if cfg.rosaline == "" {
		return nil
	}
	if err := cfg.measureFile("docs", fileSpecs(), enc); err != nil {
		return err
	}
	repair, err := files{command: cfg.rosaline}.hasFlag("repair")
	if err != nil {
		return err
	}
	for _, name := range lineSets {
		if err := cfg.measureFile(name, chainSpecs(repair), enc); err != nil {
			return err
		}
	}
	return nil
}

// parallel times the jobs that several workers share.
func (cfg *config) parallel(enc *json.Encoder) error {
	n := crew(cfg.workers)
	for _, name := range columnSets {
		if err := cfg.Set(name, n.columnSpecs(), enc); err != nil {
			return err
		}
	}
	for _, name := range textSets {
		if err := cfg.Set(name, n.textSpecs(), enc); err != nil {
			return err
		}
	}
	if cfg.rosaline == "" {
		return nil
	}
	return cfg.measureFile("docs", fileSpecs(), enc)
}

// The data sets by what they are for; those of lines have a JSONL form.
var (
	columnSets = []string{"short", "med", "docs"}
	textSets   = []string{"docs", "plain", "prose", "cjk", "pii"}
	lineSets   = []string{"docs", "prose"}
)

func parse(args []string) (*config, error) {
	var cfg config
	f := flag.NewFlagSet("text", flag.ContinueOnError)
	cfg.Flags(f)
	f.StringVar(&cfg.rosaline, "rosaline", "", "the rosaline `command`; without it files are not timed")
	f.IntVar(&cfg.workers, "workers", 1, "workers a job; with more than 1 the jobs that can be shared")
	f.BoolVar(&cfg.levels, "levels", false, "print the levels of instructions that this machine has, nothing else")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if cfg.levels {
		return &cfg, nil
	}
	if cfg.workers < 1 {
		return nil, fmt.Errorf("-workers is %d, want 1 or more", cfg.workers)
	}
	return &cfg, cfg.Check()
}

// measureFile times `rosaline run` on the JSONL form of a data set; one that was not
// made is passed over.
func (cfg *config) measureFile(name string, specs []fileSpec, enc *json.Encoder) error {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	f := files{command: cfg.rosaline, in: filepath.Join(cfg.Data, name+".jsonl"), out: filepath.Join(dir, "out.jsonl")}
	lines, bytes, err := f.size()
	if errors.Is(err, fs.ErrNotExist) && name == "prose" {
		return nil
	}
	if err != nil {
		return err
	}
	for _, s := range specs {
		line := measure.Line{Job: s.job, Data: name, Form: "rosaline run", Items: lines, Bytes: bytes}
		if !cfg.Jobs.MatchString(line.Key()) {
			continue
		}
		if err := cfg.Limits.Measure(line, f.work(cfg.workers, s.flags), enc); err != nil {
			return err
		}
	}
	return nil
}
