package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"time"

	"github.com/rosaline-go/rosaline/pipeline"
	"github.com/rosaline-go/rosaline/pipeline/resume"
	"github.com/rosaline-go/rosaline/pipeline/source"
	"github.com/rosaline-go/rosaline/pipeline/text"
)

const (
	batchRows   = 256
	commitEvery = 64 // batches
)

// written is what is in a file of text.
type written struct {
	Rows  int   `json:"rows"`
	Bytes int64 `json:"bytes"`
}

// writeText makes a JSONL file of about so many bytes. No two rows are alike, and each begins
// with its number.
func writeText(path string, size int64) (w written, err error) {
	f, err := os.Create(path)
	if err != nil {
		return w, err
	}
	defer func() { err = errors.Join(err, f.Sync(), f.Close()) }()
	out, rest, line := bufio.NewWriterSize(f, 1<<20), endings(), []byte(nil)
	for w.Bytes < size {
		line = append(line[:0], `{"id":`...)
		line = strconv.AppendInt(line, int64(w.Rows), 10)
		line = append(line, `,"text":"row `...)
		line = strconv.AppendInt(line, int64(w.Rows), 10)
		line = append(line, rest[w.Rows%len(rest)]...)
		n, err := out.Write(line)
		if err != nil {
			return w, err
		}
		w.Rows, w.Bytes = w.Rows+1, w.Bytes+int64(n)
	}
	return w, out.Flush()
}

// endings are those of lines: invented words, 100 to 1000 bytes.
func endings() [][]byte {
	rng := rand.New(rand.NewPCG(1, 2))
	out := make([][]byte, 1000)
	for i := range out {
		for n := 100 + rng.IntN(900); len(out[i]) < n; {
			out[i] = append(out[i], ' ')
			for range 2 + rng.IntN(8) {
				out[i] = append(out[i], byte('a'+rng.IntN(26)))
			}
		}
		out[i] = append(out[i], "\"}\n"...)
	}
	return out
}

// seconds is how long something took.
type seconds struct {
	Seconds float64 `json:"seconds"`
	Rows    int     `json:"rows"`
	First   int     `json:"first"` // number of the first row, −1 if it was not looked at
}

// scan reads the lines of a file without looking into them.
func scan(path string) (s seconds, err error) {
	begin := time.Now()
	it, err := pipeline.From(source.Lines(inputs(path))).Start(context.Background())
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	for chunk, err := range it.All(context.Background()) {
		if err != nil {
			return s, err
		}
		s.Rows += chunk.Len()
		chunk.Release()
	}
	s.Seconds, s.First = time.Since(begin).Seconds(), -1
	return s, nil
}

func inputs(path string) []source.Input {
	return []source.Input{{Path: path, Format: source.FormatJSONL}}
}

// openText opens the run of a file: its records, each of them checked, in batches. In the form
// "dedup" those that came before are left out.
func openText(form, path, dir string) (*resume.ResumablePipeline[[]source.Record], error) {
	if form != "records" && form != "dedup" {
		return nil, fmt.Errorf("unknown form %q of a pipeline", form)
	}
	return resume.OpenPipeline(context.Background(), dir, func(s resume.Start) (*pipeline.Pipeline[[]source.Record], error) {
		p := pipeline.From(source.JSONL(inputs(path)))
		if form == "dedup" {
			p = resume.Deduplicate(p, s.Dedup, func(set *text.StreamDeduplicator, r source.Record) (bool, error) {
				return set.IsUnique(r.Data), nil
			})
		}
		return pipeline.BatchRaw(p, batchRows), nil
	})
}

// goThrough goes through so many rows from the beginning, or fewer than a batch more, and
// commits every few batches and in the end.
func goThrough(form, path, dir string, rows int) (s seconds, err error) {
	begin := time.Now()
	p, err := openText(form, path, dir)
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	for batches := 1; s.Rows < rows; batches++ {
		batch, err := p.Next(context.Background())
		if err != nil {
			return s, fmt.Errorf("behind %d of %d rows: %w", s.Rows, rows, err)
		}
		s.Rows += len(batch)
		if batches%commitEvery == 0 || s.Rows >= rows {
			if err := p.Commit(); err != nil {
				return s, err
			}
		}
	}
	s.Seconds, s.First = time.Since(begin).Seconds(), -1
	return s, nil
}

// first opens a run again and takes one batch.
func first(form, path, dir string) (s seconds, err error) {
	begin := time.Now()
	p, err := openText(form, path, dir)
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	batch, err := p.Next(context.Background())
	if err == io.EOF {
		return s, errors.New("there is no batch")
	}
	if err != nil {
		return s, err
	}
	s.Seconds, s.Rows = time.Since(begin).Seconds(), len(batch)
	var row struct{ ID int }
	err = json.Unmarshal(batch[0].Data, &row)
	s.First = row.ID
	return s, err
}
