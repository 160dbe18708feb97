package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rosaline-go/rosaline/rosa"
)

// result is the line about a job.
type result struct {
	Seconds []float64          `json:"seconds"`         // of each repetition, made anew
	Check   string             `json:"check,omitempty"` // CRC-32 of the answers
	Figures map[string]float64 `json:"figures,omitempty"`
}

// job is what is done with an input.
type job struct {
	tokens      []int64
	k, r        int // of candidates
	rows        int // of a batch
	threads     int
	minTime     time.Duration // repetitions go on until then
	check       bool          // the answers are to be told
	repetitions int           // most of them
}

// jobs are all of them by name.
var jobs = map[string]func(*job) (*result, error){
	"step": (*job).step, "prefill": (*job).prefill,
	"prefill into": (*job).prefillInto, "candidates prefill into": (*job).candidatesPrefillInto,
	"candidates step": (*job).candidatesStep, "candidates prefill": (*job).candidatesPrefill,
	"batch step": (*job).batchStep, "batch prefill": (*job).batchPrefill,
	"abi1 step": (*job).abi1Step, "abi1 candidates step": (*job).abi1CandidatesStep,
	"latency":         func(j *job) (*result, error) { return j.latency() },
	"latency bounded": func(j *job) (*result, error) { return j.latency(rosa.WithBoundedSteps()) },
	"memory":          (*job).memory,
}

// repeat times f until the time is over. What f returns is timed from there.
func (j *job) repeat(f func() (func() error, error)) (*result, error) {
	r := &result{Figures: map[string]float64{}}
	total := time.Duration(0)
	for len(r.Seconds) == 0 || total < j.minTime && len(r.Seconds) < j.repetitions {
		runtime.GC()
		run, err := f()
		if err != nil {
			return nil, err
		}
		begin := time.Now()
		err = run()
		took := time.Since(begin)
		if err != nil {
			return nil, err
		}
		total += took
		r.Seconds = append(r.Seconds, took.Seconds())
	}
	return r, nil
}

// checkOf returns the CRC-32 of answers.
func checkOf(answers ...any) (string, error) {
	h := crc32.NewIEEE()
	var err error
	for _, a := range answers {
		switch a := a.(type) {
		case []int64:
			err = errors.Join(err, writeTo(h, a))
		case []int32:
			err = errors.Join(err, writeTo(h, a))
		default:
			err = fmt.Errorf("answers of type %T", a)
		}
	}
	return fmt.Sprintf("%08x", h.Sum32()), err
}

// writeTo writes numbers in parts: there may be gigabytes.
func writeTo[T int32 | int64](w io.Writer, numbers []T) error {
	var err error
	var b []byte
	for part := range slices.Chunk(numbers, 1<<15) {
		if b, err = binary.Append(b[:0], binary.LittleEndian, part); err != nil {
			return err
		}
		if _, err = w.Write(b); err != nil {
			return err
		}
	}
	return nil
}

// finish adds what is told besides the times.
func (j *job) finish(r *result, err error, answers ...any) (*result, error) {
	if err == nil && j.check {
		r.Check, err = checkOf(answers...)
	}
	return r, err
}

func (j *job) step() (*result, error) {
	next := make([]int64, len(j.tokens))
	r, err := j.repeat(func() (func() error, error) {
		s := rosa.NewState()
		return func() error {
			for i, token := range j.tokens {
				m, err := s.Step(token)
				if err != nil {
					return err
				}
				next[i] = m.Next
			}
			return nil
		}, nil
	})
	return j.finish(r, err, next)
}

func (j *job) prefill() (*result, error) {
	var matches []rosa.Match
	r, err := j.repeat(func() (func() error, error) {
		matches = nil
		s := rosa.NewState()
		return func() (err error) {
			matches, err = s.Prefill(j.tokens)
			return err
		}, nil
	})
	return j.finish(r, err, nexts(matches))
}

// prefillInto is prefill into memory that is made once and used again.
func (j *job) prefillInto() (*result, error) {
	matches := make([]rosa.Match, len(j.tokens))
	for i := range matches {
		matches[i] = rosa.Match{Next: used, Source: used, Length: used}
	}
	r, err := j.repeat(func() (func() error, error) {
		s := rosa.NewState()
		return func() error { return s.PrefillInto(matches, j.tokens) }, nil
	})
	return j.finish(r, err, nexts(matches))
}

// used is what memory holds that is used again. To write it touches all pages, which is not
// in the time then.
const used = 77

// usedRows returns n rows that hold something else.
func usedRows(n, slots int) rosa.CandidateRows {
	rows := rosa.NewCandidateRows(n, slots)
	for _, column := range [][]int64{rows.Source, rows.Length, rows.State, rows.Frequency} {
		for i := range column {
			column[i] = used
		}
	}
	for i := range rows.Count {
		rows.Count[i] = used
	}
	return rows
}

func nexts(matches []rosa.Match) []int64 {
	next := make([]int64, len(matches))
	for i, m := range matches {
		next[i] = m.Next
	}
	return next
}

func (j *job) newCandidates() *rosa.Candidates {
	return rosa.NewCandidates(rosa.WithSuffixes(j.k), rosa.WithOccurrences(j.r))
}

func (j *job) candidatesStep() (*result, error) {
	r, err := j.repeat(func() (func() error, error) {
		c := j.newCandidates()
		return func() error {
			for _, token := range j.tokens {
				if _, err := c.Step(token); err != nil {
					return err
				}
			}
			return nil
		}, nil
	})
	if err != nil || !j.check {
		return r, err
	}
	c := j.newCandidates()
	var all rosa.CandidateRows
	for _, token := range j.tokens {
		row, err := c.Step(token)
		if err != nil {
			return nil, err
		}
		all.Source = append(all.Source, row.Source...)
		all.Length = append(all.Length, row.Length...)
		all.State = append(all.State, row.State...)
		all.Frequency = append(all.Frequency, row.Frequency...)
		all.Count = append(all.Count, row.Count...)
	}
	return j.finish(r, nil, all.Source, all.Length, all.State, all.Frequency, all.Count)
}

func (j *job) candidatesPrefill() (*result, error) {
	var all rosa.CandidateRows
	r, err := j.repeat(func() (func() error, error) {
		all = rosa.CandidateRows{}
		runtime.GC()
		c := j.newCandidates()
		return func() (err error) {
			all, err = c.Prefill(j.tokens)
			return err
		}, nil
	})
	return j.finish(r, err, all.Source, all.Length, all.State, all.Frequency, all.Count)
}

// candidatesPrefillInto is candidatesPrefill into rows that are made once and used again.
func (j *job) candidatesPrefillInto() (*result, error) {
	all := usedRows(len(j.tokens), j.k*j.r)
	r, err := j.repeat(func() (func() error, error) {
		c := j.newCandidates()
		return func() error { return c.PrefillInto(&all, j.tokens) }, nil
	})
	return j.finish(r, err, all.Source, all.Length, all.State, all.Frequency, all.Count)
}

// batch times a batch of rows that each have a part of the tokens.
func (j *job) batch(run func(*rosa.Batch, []rosa.Match) error) (*result, error) {
	matches := make([]rosa.Match, len(j.tokens))
	var b *rosa.Batch
	r, err := j.repeat(func() (func() error, error) {
		if b != nil {
			b.Close()
		}
		var err error
		b, err = rosa.NewBatch(j.rows, rosa.WithThreads(j.threads))
		return func() error { return run(b, matches) }, err
	})
	if b != nil {
		b.Close()
	}
	return j.finish(r, err, nexts(matches))
}

func (j *job) batchPrefill() (*result, error) {
	return j.batch(func(b *rosa.Batch, matches []rosa.Match) error { return b.PrefillInto(matches, j.tokens) })
}

func (j *job) batchStep() (*result, error) {
	n := len(j.tokens) / j.rows
	columns := make([]int64, len(j.tokens))
	for i, t := range j.tokens {
		columns[i%n*j.rows+i/n] = t
	}
	r, err := j.batch(func(b *rosa.Batch, matches []rosa.Match) error {
		for i := 0; i < len(columns); i += j.rows {
			if err := b.StepInto(matches[i:i+j.rows], columns[i:i+j.rows]); err != nil {
				return err
			}
		}
		return nil
	})
	return r, err
}

// latency tells how long single steps take, the clock included.
func (j *job) latency(opts ...rosa.StateOption) (*result, error) {
	took := make([]time.Duration, len(j.tokens))
	r, err := j.repeat(func() (func() error, error) {
		s := rosa.NewState(opts...)
		return func() error {
			last := time.Now()
			for i, token := range j.tokens {
				if _, err := s.Step(token); err != nil {
					return err
				}
				now := time.Now()
				took[i], last = now.Sub(last), now
			}
			return nil
		}, nil
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(took)
	at := func(q float64) float64 { return float64(took[int(q*float64(len(took)-1))].Nanoseconds()) }
	r.Figures["p50"], r.Figures["p99"], r.Figures["p99.9"], r.Figures["max"] = at(0.5), at(0.99), at(0.999), at(1)
	return r, nil
}

// memory tells what a state holds, by its own count and by the growth of resident memory,
// in bytes a token. The text is in it.
func (j *job) memory() (*result, error) {
	before, err := resident()
	if err != nil {
		return nil, err
	}
	s := rosa.NewState()
	r := &result{Figures: map[string]float64{}}
	begin := time.Now()
	for _, token := range j.tokens {
		if _, err := s.Step(token); err != nil {
			return nil, err
		}
	}
	r.Seconds = append(r.Seconds, time.Since(begin).Seconds())
	after, err := resident()
	if err != nil {
		return nil, err
	}
	n := float64(len(j.tokens))
	r.Figures["held"], r.Figures["resident"] = float64(s.Bytes())/n, float64(after-before)/n
	runtime.KeepAlive(s)
	return r, nil
}

// resident returns the resident memory of the process in bytes, garbage given back.
func resident() (int, error) {
	debug.FreeOSMemory()
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, fmt.Errorf("resident memory is not known here: %w", err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(b))[1])
	return pages * os.Getpagesize(), err
}
