package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"time"
)

// spec is a job that has no data yet.
type spec struct {
	job, form string
	bind      func(*dataset) (work, error)
}

// work is a job on its data.
type work struct {
	// run is what is timed.
	run func() error
	// rows yields the rows of the result of the last run, for the check.
	rows func() (iter.Seq[[]byte], error)
}

// line is what is printed of a job.
type line struct {
	Job     string    `json:"job"`
	Data    string    `json:"data"`
	Form    string    `json:"form"`
	Seconds []float64 `json:"seconds"`
	Items   int       `json:"items"`
	Bytes   int64     `json:"bytes"`
}

// key is the name of the job's check, and what -jobs is matched with.
func (l line) key() string { return l.Job + "@" + l.Data + "@" + l.Form }

// limits says how long a job is repeated, and what is kept of it.
type limits struct {
	minTime time.Duration
	maxReps int
	checks  string // folder of the checks, "" for none
	profile string // file of the CPU profile, "" for none
}

// measure repeats w until minTime has passed or maxReps were done and prints
// its line. Collections of garbage fall where they fall: the memory a job leaves
// behind is part of its cost.
func (l limits) measure(out line, w work, enc *json.Encoder) error {
	fail := func(err error) error { return fmt.Errorf("%s: %w", out.key(), err) }
	// The first run pages in what later ones reuse. It counts only if it fills
	// the time alone.
	first, err := timed(w)
	if err != nil {
		return fail(err)
	}
	if l.checks != "" {
		if err := l.writeCheck(out, w); err != nil {
			return fail(err)
		}
	}
	runtime.GC()
	stop, err := l.startProfile()
	if err != nil {
		return fail(err)
	}
	spent := time.Duration(0)
	if first >= l.minTime {
		out.Seconds, spent = append(out.Seconds, first.Seconds()), first
	}
	for spent < l.minTime && len(out.Seconds) < l.maxReps {
		took, err := timed(w)
		if err != nil {
			return fail(err)
		}
		out.Seconds = append(out.Seconds, took.Seconds())
		spent += took
	}
	if err := stop(); err != nil {
		return fail(err)
	}
	return enc.Encode(out)
}

func timed(w work) (time.Duration, error) {
	start := time.Now()
	err := w.run()
	return time.Since(start), err
}

// startProfile starts the CPU profile, if one is wanted, and returns what ends it.
func (l limits) startProfile() (stop func() error, err error) {
	if l.profile == "" {
		return func() error { return nil }, nil
	}
	f, err := os.Create(l.profile)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, err
	}
	return func() error {
		pprof.StopCPUProfile()
		return f.Close()
	}, nil
}

// writeCheck writes the CRC-32 of each row of the result of w.
func (l limits) writeCheck(out line, w work) error {
	rows, err := w.rows()
	if err != nil {
		return err
	}
	var sums []byte
	for row := range rows {
		sums = binary.LittleEndian.AppendUint32(sums, crc32.ChecksumIEEE(row))
	}
	return os.WriteFile(filepath.Join(l.checks, out.key()), sums, 0o644)
}
