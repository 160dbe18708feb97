package main

import (
	"context"
	"fmt"
	"sync"

	"github.com/rosaline-go/rosaline/cmd/rosaline/internal/jsonl"
	"github.com/rosaline-go/rosaline/cmd/rosaline/internal/output"
	"github.com/rosaline-go/rosaline/pipeline/source"
	"github.com/rosaline-go/rosaline/pipeline/text"
)

// batch is an item of the loop of rosaline run.
type batch struct {
	chunk   *source.Chunk // until Scan
	file    string        // that chunk's
	records *records
	fused   *text.Batch // scratch of the stages
	result  *text.Result
	lines   []byte // of the output
	rejects []byte // lines of the rejects
}

// runWork is the work of rosaline run: the stages are those of the pipeline, the
// rest is reading and writing. It implements [ordered.Work].
type runWork struct {
	*intake
	pipeline *text.FusedPipeline
	out      *output.File
	rejects  *output.File // nil when nobody asked for them
	tokens   bool         // whether the output has the bytes of each text
	tally    tally
	progress *progress
	pool     sync.Pool
}

// Next implements [ordered.Work].
func (w *runWork) Next(ctx context.Context) (*batch, error) {
	chunk, err := w.next(ctx)
	if err != nil {
		return nil, err
	}
	b, ok := w.pool.Get().(*batch)
	if !ok {
		b = &batch{fused: text.NewBatch()}
	}
	b.chunk, b.file = chunk, chunk.File
	return b, nil
}

// Scan implements [ordered.Work].
func (w *runWork) Scan(b *batch) error {
	records, last := w.decode(b.chunk)
	if records == nil {
		return last
	}
	b.records = records
	w.pipeline.Scan(b.fused, records.text)
	return last
}

// Resolve implements [ordered.Work].
func (w *runWork) Resolve(b *batch) error { return w.pipeline.Resolve(b.fused) }

// Emit implements [ordered.Work].
func (w *runWork) Emit(b *batch) error {
	result, err := w.pipeline.Emit(b.fused)
	if err != nil {
		return fmt.Errorf("%s: %w", b.file, err)
	}
	b.result = result
	b.lines = b.lines[:0]
	for i, row := range result.Rows {
		b.lines = w.appendRecord(b.records.appendID(b.lines, int(row)), result.Column.Bytes(i))
	}
	b.rejects = b.rejects[:0]
	if w.rejects != nil {
		b.rejects = appendRejects(b.rejects, b.records, result.Drops)
	}
	return nil
}

// appendID appends the begin of a line of output about a row: {"id":…
func (r *records) appendID(dst []byte, row int) []byte {
	return jsonl.AppendID(append(dst, `{"id":`...), r.id.Bytes(row), r.numberID(row))
}

// appendRecord appends the rest of a line of the output behind the id.
func (w *runWork) appendRecord(dst, s []byte) []byte {
	dst = jsonl.AppendString(append(dst, `,"text":`...), s)
	if w.tokens {
		dst = jsonl.AppendBytes(append(dst, `,"tokens":`...), s)
	}
	return append(dst, "}\n"...)
}

// appendRejects appends the lines of what the reader and the stages dropped, in
// the order of the inputs.
func appendRejects(dst []byte, r *records, drops []text.Drop) []byte {
	bad := r.bad
	for _, d := range drops {
		for len(bad) > 0 && bad[0].Index <= d.Row {
			dst = appendBad(dst, bad[0])
			bad = bad[1:]
		}
		dst = appendReject(r.appendID(dst, d.Row), d.Stage.String(), d.Reason.String(), d.Value, d.Bound)
	}
	for _, b := range bad {
		dst = appendBad(dst, b)
	}
	return dst
}

func appendBad(dst []byte, b source.BadRecord) []byte {
	dst = jsonl.AppendID(append(dst, `{"id":`...), b.ID, b.NumberID)
	return appendReject(dst, text.StageSource.String(), b.Reason.String(), b.Value, b.Bound)
}

// appendReject appends the rest of a line of the rejects behind the id.
func appendReject(dst []byte, stage, reason string, value, bound float64) []byte {
	dst = jsonl.AppendString(append(dst, `,"stage":`...), stage)
	dst = jsonl.AppendString(append(dst, `,"reason":`...), reason)
	dst = jsonl.AppendFloat(append(dst, `,"value":`...), value)
	dst = jsonl.AppendFloat(append(dst, `,"bound":`...), bound)
	return append(dst, "}\n"...)
}

// Write implements [ordered.Work].
func (w *runWork) Write(b *batch) error {
	if _, err := w.out.Write(b.lines); err != nil {
		return err
	}
	if w.rejects != nil {
		if _, err := w.rejects.Write(b.rejects); err != nil {
			return err
		}
	}
	w.tally.add(b.records.bad, b.records.stats, b.result)
	w.progress.set(w.reader.Progress())
	return nil
}

// Recycle implements [ordered.Work].
func (w *runWork) Recycle(b *batch) {
	b.chunk, b.records, b.result = nil, nil, nil // Scan has released the chunk
	w.pool.Put(b)
}
