package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/rosaline-go/rosaline/cmd/rosaline/internal/jsonl"
	"github.com/rosaline-go/rosaline/cmd/rosaline/internal/output"
	"github.com/rosaline-go/rosaline/cmd/rosaline/internal/table"
	"github.com/rosaline-go/rosaline/pipeline/resume"
	"github.com/rosaline-go/rosaline/pipeline/text"
)

// batch is what the stages make of records.
type batch struct {
	records *records
	fused   *text.Batch // scratch of the stages
	result  *text.Result
	packed  text.Packed // the survivors on their way into lines
	counted text.Result // result, where they go into lines
	lines   []byte      // of the output, as JSONL
	rows    *table.Rows // of the output, as a table; nil as JSONL
	sizes   []int64     // bytes of each record of the output: of its line, or its row
	rejects []byte      // lines of the rejects
}

// batchPool keeps batches for reuse.
type batchPool struct{ pool sync.Pool }

func (p *batchPool) get() *batch {
	if b, ok := p.pool.Get().(*batch); ok {
		return b
	}
	return &batch{fused: text.NewBatch()}
}

func (p *batchPool) put(b *batch) {
	if b.rows != nil {
		b.rows.Release()
	}
	b.records.release()
	b.records, b.result, b.rows = nil, nil, nil
	p.pool.Put(b)
}

// scanning is the stage that does what depends on a record alone.
type scanning struct {
	pipeline *text.FusedPipeline
	pool     *batchPool
	pause    func()
}

// Name implements [pipeline.Named].
func (*scanning) Name() string { return "scan" }

// Apply implements [pipeline.Transform].
func (s *scanning) Apply(_ context.Context, r *records, emit func(*batch)) error {
	s.pause()
	if r.err != nil {
		return r.err
	}
	b := s.pool.get()
	b.records = r
	s.pipeline.Scan(b.fused, r.text)
	emit(b)
	return nil
}

// errNothing is returned by an endless run whose inputs hold no records.
var errNothing = errors.New("the inputs hold no records, and --epochs 0 would go through them for ever")

// resolving is the stage that tells duplicates, in one epoch: what earlier epochs
// had does not count.
type resolving struct {
	resolve func(*text.Batch) error
	endless bool
	any     bool // there was a record, or a line that is none
	pause   func()
}

// newResolving begins an epoch.
func newResolving(p *text.FusedPipeline, endless bool, pause func()) *resolving {
	if d := p.Deduplicator(); d != nil {
		d.Rollback() // nothing is ever committed
	}
	return &resolving{resolve: p.Resolve, endless: endless, pause: pause}
}

// Push implements [pipeline.StatefulTransform].
func (r *resolving) Push(_ context.Context, b *batch, emit func(*batch)) error {
	r.pause()
	r.any = r.any || b.records.text.Len() > 0 || len(b.records.bad) > 0
	if err := r.resolve(b.fused); err != nil {
		return err
	}
	emit(b)
	return nil
}

// Finish implements [pipeline.StatefulTransform].
func (r *resolving) Finish(context.Context, func(*batch)) error {
	if r.endless && !r.any {
		return errNothing
	}
	return nil
}

// resumableResolving is [resolving] that goes on where its snapshot was taken, by the set of
// its epoch.
type resumableResolving struct {
	*resolving
	*resume.DedupEpoch
}

// newResumableResolving begins an epoch.
func newResumableResolving(p *text.FusedPipeline, endless bool, pause func(), d *resume.Dedup) *resumableResolving {
	epoch := d.Begin()
	return &resumableResolving{&resolving{endless: endless, pause: pause, resolve: func(b *text.Batch) error {
		set, err := epoch.Set()
		if err == nil {
			err = p.ResolveWith(set, b)
		}
		if err != nil {
			err = epoch.Fail(err)
		}
		return err
	}}, epoch}
}

// Restore implements [pipeline.Resumable].
func (r *resumableResolving) Restore(snapshot json.RawMessage) error {
	r.any = true // or the epoch would not have come so far
	return r.DedupEpoch.Restore(snapshot)
}

// emitting is the stage that makes the records of the output, as lines or as rows, and
// the lines of the rejects.
type emitting struct {
	pipeline *text.FusedPipeline
	format   output.Format
	columns  table.Columns
	rejects  bool // whether there are rejects
	pause    func()
}

// Name implements [pipeline.Named].
func (*emitting) Name() string { return "emit" }

// Apply implements [pipeline.Transform].
func (e *emitting) Apply(_ context.Context, b *batch, emit func(*batch)) error {
	e.pause()
	write := e.makeRows
	if e.format == output.JSONL {
		write = e.makeLines
	}
	if err := write(b); err != nil {
		if b.records.file == "" {
			return err
		}
		return fmt.Errorf("%s: %w", b.records.file, err)
	}
	b.rejects = b.rejects[:0]
	if e.rejects {
		b.rejects = appendRejects(b.rejects, b.records, b.result.Drops)
	}
	emit(b)
	return nil
}

// makeLines makes the lines of the survivors, by way of memory that is used again.
func (e *emitting) makeLines(b *batch) error {
	p := &b.packed
	if err := e.pipeline.EmitInto(b.fused, p); err != nil {
		return err
	}
	b.counted = text.Result{Rows: p.Rows, Drops: p.Drops, Totals: p.Totals, Spans: p.Spans, Position: p.Position}
	b.result = &b.counted
	var others []string
	if b.result.Spans != nil {
		others = []string{spansMember}
	}
	members, err := newMembers(b.records.meta, e.columns, others...)
	if err != nil {
		return err
	}
	b.lines, b.sizes = b.lines[:0], b.sizes[:0]
	for i, row := range b.result.Rows {
		begin := len(b.lines)
		b.lines = b.records.appendID(b.lines, int(row))
		text := p.Payload[p.Offsets[i]:p.Offsets[i+1]]
		b.lines = jsonl.AppendString(append(b.lines, `,"text":`...), text)
		b.lines = appendSpans(b.lines, e.pipeline.PII(), b.result, i)
		b.lines = members.appendTo(b.lines, int(row))
		if e.columns.Tokens {
			b.lines = jsonl.AppendBytes(append(b.lines, `,"tokens":`...), text)
		}
		b.lines = appendEnd(b.lines, b.records.padded(int(row)))
		b.sizes = append(b.sizes, int64(len(b.lines)-begin))
	}
	return nil
}

// makeRows makes the rows of the survivors.
func (e *emitting) makeRows(b *batch) error {
	result, err := e.pipeline.Emit(b.fused)
	if err != nil {
		return err
	}
	b.result = result
	ids, err := b.records.id.Take(b.result.Rows)
	if err != nil {
		return err
	}
	b.rows, err = e.columns.NewRows(ids, b.result.Column, b.records.padded, b.records.meta, b.result.Rows)
	if err != nil {
		return err
	}
	b.rows.File = b.records.file
	b.sizes = append(b.sizes[:0], b.rows.Sizes...)
	return nil
}

// appendEnd appends the end of a line about a record that is padding, or is not.
func appendEnd(dst []byte, padded bool) []byte {
	if padded {
		dst = append(dst, `,"padded":true`...)
	}
	return append(dst, "}\n"...)
}

// appendRejects appends the lines of what the reader and the stages dropped, in
// the order of the records.
func appendRejects(dst []byte, r *records, drops []text.Drop) []byte {
	bad := 0
	for _, d := range drops {
		for ; bad < len(r.bad) && r.bad[bad].Index <= d.Row; bad++ {
			dst = appendBad(dst, r, bad)
		}
		dst = appendReject(r.appendID(dst, d.Row), d.Stage.String(), d.Reason.String(), d.Value, d.Bound)
		dst = appendEnd(dst, r.padded(d.Row))
	}
	for ; bad < len(r.bad); bad++ {
		dst = appendBad(dst, r, bad)
	}
	return dst
}

func appendBad(dst []byte, r *records, i int) []byte {
	b := &r.bad[i]
	dst = jsonl.AppendID(append(dst, `{"id":`...), b.ID, b.NumberID)
	dst = appendReject(dst, text.StageSource.String(), b.Reason.String(), b.Value, b.Bound)
	return appendEnd(dst, r.badPads(i))
}

// appendReject appends what a line of the rejects has behind the id.
func appendReject(dst []byte, stage, reason string, value, bound float64) []byte {
	dst = jsonl.AppendString(append(dst, `,"stage":`...), stage)
	dst = jsonl.AppendString(append(dst, `,"reason":`...), reason)
	dst = jsonl.AppendFloat(append(dst, `,"value":`...), value)
	return jsonl.AppendFloat(append(dst, `,"bound":`...), bound)
}
