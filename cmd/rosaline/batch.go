package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/rosaline-go/rosaline/cmd/rosaline/internal/jsonl"
	"github.com/rosaline-go/rosaline/pipeline/text"
)

// batch is what the stages make of records.
type batch struct {
	records *records
	fused   *text.Batch // scratch of the stages
	result  *text.Result
	lines   []byte // of the output
	rejects []byte // lines of the rejects
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
	b.records, b.result = nil, nil
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
	pipeline *text.FusedPipeline
	endless  bool
	any      bool // there was a record, or a line that is none
	pause    func()
}

// newResolving begins an epoch.
func newResolving(p *text.FusedPipeline, endless bool, pause func()) *resolving {
	if d := p.Deduplicator(); d != nil {
		d.Rollback() // nothing is ever committed
	}
	return &resolving{pipeline: p, endless: endless, pause: pause}
}

// Push implements [pipeline.StatefulTransform].
func (r *resolving) Push(_ context.Context, b *batch, emit func(*batch)) error {
	r.pause()
	r.any = r.any || b.records.text.Len() > 0 || len(b.records.bad) > 0
	if err := r.pipeline.Resolve(b.fused); err != nil {
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

// emitting is the stage that writes the lines of the output and of the rejects.
type emitting struct {
	pipeline        *text.FusedPipeline
	tokens, rejects bool // whether there are tokens, and rejects
	pause           func()
}

// Name implements [pipeline.Named].
func (*emitting) Name() string { return "emit" }

// Apply implements [pipeline.Transform].
func (e *emitting) Apply(_ context.Context, b *batch, emit func(*batch)) error {
	e.pause()
	result, err := e.pipeline.Emit(b.fused)
	if err != nil {
		if b.records.file == "" {
			return err
		}
		return fmt.Errorf("%s: %w", b.records.file, err)
	}
	b.result = result
	b.lines = b.lines[:0]
	for i, row := range result.Rows {
		b.lines = e.appendRecord(b.lines, b.records, int(row), result.Column.Bytes(i))
	}
	b.rejects = b.rejects[:0]
	if e.rejects {
		b.rejects = appendRejects(b.rejects, b.records, result.Drops)
	}
	emit(b)
	return nil
}

// appendRecord appends the line of output of a row.
func (e *emitting) appendRecord(dst []byte, r *records, row int, s []byte) []byte {
	dst = r.appendID(dst, row)
	dst = jsonl.AppendString(append(dst, `,"text":`...), s)
	if e.tokens {
		dst = jsonl.AppendBytes(append(dst, `,"tokens":`...), s)
	}
	return appendEnd(dst, r.padded(row))
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
