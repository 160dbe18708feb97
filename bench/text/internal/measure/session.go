package measure

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"time"
)

// Session is what the flags of a program that measures say.
type Session struct {
	Data   string
	Jobs   *regexp.Regexp
	Limits Limits

	jobs string
}

// Flags adds the flags of a session to f.
func (s *Session) Flags(f *flag.FlagSet) {
	f.StringVar(&s.Data, "data", "", "`folder` of the data sets")
	f.StringVar(&s.Limits.Checks, "checks", "", "`folder` for the CRC-32 of each result row")
	f.StringVar(&s.Limits.Profile, "cpuprofile", "", "`file` for a CPU profile; needs -jobs to select one job")
	f.DurationVar(&s.Limits.MinTime, "min-time", 100*time.Millisecond, "how long a job is repeated")
	f.IntVar(&s.Limits.MaxReps, "max-reps", 9, "most repetitions of a job")
	f.StringVar(&s.jobs, "jobs", "", "only jobs whose job@data@form matches this `regexp`")
}

// Check checks the flags after they were parsed.
func (s *Session) Check() (err error) {
	if s.Data == "" {
		return errors.New("-data is missing: name the folder that dataset.py wrote")
	}
	if s.Limits.MaxReps < 1 {
		return fmt.Errorf("-max-reps is %d, want 1 or more", s.Limits.MaxReps)
	}
	s.Jobs, err = regexp.Compile(s.jobs)
	return err
}

// Set times the jobs that were asked for on one data set, which is
// loaded only if there are any. A set that was not made is passed over: the
// prose is there only with the corpus.
func (s *Session) Set(name string, specs []Spec, enc *json.Encoder) error {
	var set *Dataset
	for _, spec := range specs {
		line := Line{Job: spec.Job, Data: name, Form: spec.Form}
		if !s.Jobs.MatchString(line.Key()) {
			continue
		}
		if set == nil {
			var err error
			set, err = ReadDataset(filepath.Join(s.Data, name+".col"))
			if errors.Is(err, fs.ErrNotExist) && name == "prose" {
				return nil
			}
			if err != nil {
				return err
			}
		}
		w, err := spec.Bind(set)
		if err != nil {
			return fmt.Errorf("%s: %w", line.Key(), err)
		}
		line.Items, line.Bytes = len(set.Rows), int64(len(set.Payload))
		if err := s.Limits.Measure(line, w, enc); err != nil {
			return err
		}
	}
	return nil
}

// Version returns the version of a module as the build recorded it, "(devel)" if it
// did not; "" stands for the main module.
func Version(module string) string {
	const unknown = "(devel)"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return unknown
	}
	if module == "" && info.Main.Version != "" {
		return info.Main.Version
	}
	for _, m := range info.Deps {
		if m.Path == module {
			return m.Version
		}
	}
	return unknown
}
