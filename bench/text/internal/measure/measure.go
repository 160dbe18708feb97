package measure

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

// Spec is a job that has no data yet.
type Spec struct {
	Job, Form string
	Bind      func(*Dataset) (Work, error)
}

// NewSpec returns a job. The fastest form of a job counts.
func NewSpec(job, form string, bind func(*Dataset) (Work, error)) Spec {
	return Spec{Job: job, Form: form, Bind: bind}
}

// Work is a job on its data.
type Work struct {
	// Run is what is timed.
	Run func() error
	// Rows yields the rows of the result of the last run, for the check; nil for none.
	Rows func() (iter.Seq[[]byte], error)
	// Figures returns what else there is to know of the job, outside of the time; nil
	// for none.
	Figures func() (map[string]float64, error)
	// Items and Bytes are what one run works on, where that is not the whole data set.
	Items int
	Bytes int64
}

// Line is what is printed of a job.
type Line struct {
	Job     string             `json:"job"`
	Data    string             `json:"data"`
	Form    string             `json:"form"`
	Seconds []float64          `json:"seconds"`
	Items   int                `json:"items"`
	Bytes   int64              `json:"bytes"`
	Figures map[string]float64 `json:"figures,omitempty"`
}

// Key is the name of the job's check, and what -jobs is matched with.
func (l Line) Key() string { return l.Job + "@" + l.Data + "@" + l.Form }

// Limits says how long a job is repeated, and what is kept of it.
type Limits struct {
	MinTime time.Duration
	MaxReps int
	Checks  string // folder of the checks, "" for none
	Profile string // file of the CPU profile, "" for none
}

// Measure repeats w until MinTime has passed or MaxReps were done and prints
// its line. Collections of garbage fall where they fall: the memory a job leaves
// behind is part of its cost.
func (l Limits) Measure(out Line, w Work, enc *json.Encoder) error {
	fail := func(err error) error { return fmt.Errorf("%s: %w", out.Key(), err) }
	if w.Items > 0 {
		out.Items, out.Bytes = w.Items, w.Bytes
	}
	// The first run pages in what later ones reuse. It counts only if it fills
	// the time alone.
	first, err := timed(w)
	if err != nil {
		return fail(err)
	}
	if l.Checks != "" && w.Rows != nil {
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
	if first >= l.MinTime {
		out.Seconds, spent = append(out.Seconds, first.Seconds()), first
	}
	for spent < l.MinTime && len(out.Seconds) < l.MaxReps {
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
	if w.Figures != nil {
		if out.Figures, err = w.Figures(); err != nil {
			return fail(err)
		}
	}
	return enc.Encode(out)
}

func timed(w Work) (time.Duration, error) {
	start := time.Now()
	err := w.Run()
	return time.Since(start), err
}

// startProfile starts the CPU profile, if one is wanted, and returns what ends it.
func (l Limits) startProfile() (stop func() error, err error) {
	if l.Profile == "" {
		return func() error { return nil }, nil
	}
	f, err := os.Create(l.Profile)
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
func (l Limits) writeCheck(out Line, w Work) error {
	rows, err := w.Rows()
	if err != nil {
		return err
	}
	var sums []byte
	for row := range rows {
		sums = binary.LittleEndian.AppendUint32(sums, crc32.ChecksumIEEE(row))
	}
	return os.WriteFile(filepath.Join(l.Checks, out.Key()), sums, 0o644)
}

// Verdict is the row of a yes or no.
func Verdict(yes bool) []byte {
	if yes {
		return []byte{1}
	}
	return []byte{0}
}
