package main

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/rosaline-go/rosaline/cmd/rosaline/internal/jsonl"
	"github.com/rosaline-go/rosaline/cmd/rosaline/internal/table"
	"github.com/rosaline-go/rosaline/pipeline/source"
	"github.com/rosaline-go/rosaline/stringtensor"
)

// records are some of the stream, in its order.
type records struct {
	text, id *stringtensor.Column
	meta     arrow.RecordBatch  // the other columns, aligned with text; nil: none
	numberID func(row int) bool // whether the id of a row is a JSON number
	padded   func(row int) bool // whether a row is padding of a shard
	bad      []source.BadRecord // lines that are not records, skipped
	badPads  func(i int) bool   // whether bad[i] is padding
	stats    source.Stats       // of the chunks they came from
	file     string             // that they came from; "" after a shuffle
	err      error              // ends the stream here; there are no records then
}

// release lets go of the metadata.
func (r *records) release() {
	if r.meta != nil {
		r.meta.Release()
		r.meta = nil
	}
}

// appendID appends the begin of a line of output about a row: {"id":…
func (r *records) appendID(dst []byte, row int) []byte {
	return jsonl.AppendID(append(dst, `{"id":`...), r.id.Bytes(row), r.numberID(row))
}

// decoding is the stage that makes records of chunks and releases them. Unless bad
// records are skipped, the first one ends the stream behind the records before it.
type decoding struct {
	decoder *source.Decoder
	skip    bool
	strict  bool // nothing of a chunk with a bad record comes
	pause   func()
}

func (f *inputFlags) newDecoding(pause func()) (*decoding, error) {
	d, err := f.newDecoder()
	if err != nil {
		return nil, err
	}
	return &decoding{d, f.skip(), f.strict, pause}, nil
}

// Name implements [pipeline.Named].
func (*decoding) Name() string { return "decode" }

// Apply implements [pipeline.Transform]. What it emits before an error would be lost,
// so an error that comes after records is an element, for the next stage to
// return.
func (d *decoding) Apply(_ context.Context, c *source.Chunk, emit func(*records)) error {
	d.pause()
	defer c.Release()
	r, err := d.decoder.Decode(c)
	if err != nil {
		return capError(err)
	}
	out := &records{text: r.Text, id: r.ID, meta: r.Meta, numberID: r.NumberID, padded: r.Padded,
		bad: r.Bad, badPads: r.Padded, stats: r.Stats, file: c.File}
	if d.skip || len(r.Bad) == 0 {
		emit(out)
		return nil
	}
	first := r.Bad[0]
	if d.strict {
		return badRecordError(first)
	}
	out.bad = nil
	if out.text, err = r.Text.Slice(0, first.Index); err != nil {
		return err
	}
	if out.id, err = r.ID.Slice(0, first.Index); err != nil {
		return err
	}
	if r.Meta != nil {
		out.meta = r.Meta.NewSlice(0, int64(first.Index))
		r.Meta.Release()
	}
	emit(out)
	emit(&records{err: badRecordError(first)})
	return nil
}

// badRecordError says what is wrong with a record, and what to do.
func badRecordError(bad source.BadRecord) error {
	flag := ""
	switch bad.Reason {
	case source.BadLineLength, source.BadRowLength:
		flag = "raise --max-line, or "
	case source.BadSurrogate:
		flag = "add --surrogates replace, or "
	case source.BadUTF8:
		flag = "add --invalid-utf8 replace, or "
	}
	return fmt.Errorf("%w; %sdrop such records with --on-error skip", bad.Err, flag)
}

// item is one element of a shuffle: a record, or a line that is none. It shares no
// memory with others, so that what the buffer holds is what it needs.
type item struct {
	data             []byte // the id, then the text
	id               int    // length of the id
	null             bool
	numberID, padded bool
	bad              source.BadRecord  // if its Reason is not BadNone
	stats            source.Stats      // of a chunk, in the first of its items
	meta             arrow.RecordBatch // its row of the metadata; nil: none
}

// itemPool keeps items for reuse.
type itemPool struct{ pool sync.Pool }

// maxPooledItem is the most memory in bytes that an item keeps for another.
const maxPooledItem = 64 << 10

func (p *itemPool) get() *item {
	if r, ok := p.pool.Get().(*item); ok {
		return r
	}
	return new(item)
}

func (p *itemPool) put(r *item) {
	if cap(r.data) <= maxPooledItem {
		*r = item{data: r.data[:0]}
		p.pool.Put(r)
	}
}

// splitting is the stage that takes records apart.
type splitting struct {
	pool  *itemPool
	pause func()
	mu    sync.Mutex
	stats source.Stats // of chunks without items: blank lines have no place in a shuffled stream
}

// Name implements [pipeline.Named].
func (*splitting) Name() string { return "split" }

// Apply implements [pipeline.Transform].
func (s *splitting) Apply(_ context.Context, r *records, emit func(*item)) error {
	s.pause()
	if r.err != nil {
		return r.err
	}
	stats := r.stats
	if r.text.Len() == 0 && len(r.bad) == 0 {
		s.mu.Lock()
		s.stats.Add(stats)
		s.mu.Unlock()
	}
	give := func(one *item) {
		one.stats, stats = stats, source.Stats{}
		emit(one)
	}
	defer r.release()
	if r.meta != nil {
		plain, err := table.Plain(r.meta)
		if err != nil {
			return fmt.Errorf("%s: %w", r.file, err)
		}
		r.release()
		r.meta = plain
	}
	bad := 0
	for row := range r.text.Len() + 1 {
		for ; bad < len(r.bad) && r.bad[bad].Index <= row; bad++ {
			one := s.pool.get()
			one.bad, one.padded = r.bad[bad], r.badPads(bad)
			give(one)
		}
		if row == r.text.Len() {
			break
		}
		one, id, text := s.pool.get(), r.id.Bytes(row), r.text.Bytes(row)
		one.data = append(append(slices.Grow(one.data, len(id)+len(text)), id...), text...)
		one.id, one.null = len(id), r.text.IsNull(row)
		one.numberID, one.padded = r.numberID(row), r.padded(row)
		if r.meta != nil {
			var err error
			if one.meta, err = rowOf(r.meta, row); err != nil {
				return err
			}
		}
		give(one)
	}
	return nil
}

// gathering is the stage that puts shuffled records together, [splitting] the other
// way round.
type gathering struct {
	pool  *itemPool
	pause func()
}

// Name implements [pipeline.Named].
func (*gathering) Name() string { return "gather" }

// rowFlags are what is to be told of a row besides its text and id.
type rowFlags struct{ numberID, padded bool }

// Apply implements [pipeline.Transform]. Records whose metadata differ in their columns are
// not put together.
func (g *gathering) Apply(_ context.Context, list []*item, emit func(*records)) error {
	g.pause()
	for len(list) > 0 {
		n, first := 0, -1 // the first record that is one
		for ; n < len(list); n++ {
			if list[n].bad.Reason != source.BadNone {
				continue
			}
			if first >= 0 && !sameColumns(list[first].meta, list[n].meta) {
				break
			}
			first = n
		}
		r, err := g.gather(list[:n])
		if err != nil {
			return err
		}
		emit(r)
		list = list[n:]
	}
	return nil
}

// gather puts items together.
func (g *gathering) gather(list []*item) (*records, error) {
	ids, texts := 0, 0
	for _, one := range list {
		ids += one.id
		texts += len(one.data) - one.id
	}
	var text, id stringtensor.Builder
	text.Reserve(len(list), min(texts, stringtensor.MaxStringLen))
	id.Reserve(len(list), min(ids, stringtensor.MaxStringLen))
	out := &records{}
	flags := make([]rowFlags, 0, len(list))
	var badPads []bool
	var meta []arrow.RecordBatch
	for _, one := range list {
		out.stats.Add(one.stats)
		if one.bad.Reason != source.BadNone {
			one.bad.Index = len(flags)
			out.bad = append(out.bad, one.bad)
			badPads = append(badPads, one.padded)
			g.pool.put(one)
			continue
		}
		if one.meta != nil {
			meta = append(meta, one.meta)
		}
		if err := id.Append(one.data[:one.id]); err != nil {
			return nil, err
		}
		if one.null {
			text.AppendNull()
		} else if err := text.Append(one.data[one.id:]); err != nil {
			return nil, err
		}
		flags = append(flags, rowFlags{one.numberID, one.padded})
		g.pool.put(one)
	}
	out.text, out.id = text.Finish(), id.Finish()
	out.numberID = func(row int) bool { return flags[row].numberID }
	out.padded = func(row int) bool { return flags[row].padded }
	out.badPads = func(i int) bool { return badPads[i] }
	if len(meta) > 0 {
		var err error
		if out.meta, err = joinRows(meta); err != nil {
			return nil, err
		}
	}
	return out, nil
}
