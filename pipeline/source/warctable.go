package source

import (
	"context"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// warcColumns are the columns of WARC, of which text and id have the names that a [Decoder]
// looks for. An id is WARC-Record-ID, or WARC-Target-URI where that is missing; what a
// record does not say is null.
var warcColumns = []string{"id", "text", "uri", "date", "content_type"}

// warcTable gives the records of a WARC input that have a text.
type warcTable struct {
	in   TableInput
	scan *warcScanner
	row  int64
	// failed comes after the rows that were found before it.
	failed error
}

// openWARCTable implements [OpenTable].
func openWARCTable(ctx context.Context, in TableInput) (Table, error) {
	stream, err := openTableStream(ctx, &in)
	if err != nil {
		return nil, err
	}
	if in.At.Offset > 0 {
		if err := stream.seek(&in, in.At.Offset); err != nil {
			stream.close()
			return nil, err
		}
	}
	return &warcTable{in: in, row: in.At.Row, scan: newWARCScanner(stream)}, nil
}

// Next implements [Table].
func (t *warcTable) Next(ctx context.Context) (Block, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	t.scan.stream.ctx = ctx
	b := &warcBlock{begin: t.scan.offset}
	for t.failed == nil && len(b.rows) < t.in.BlockRows && len(b.text) < t.in.BlockBytes && b.passed < 64*int64(t.in.BlockBytes) {
		if t.failed = t.scan.next(); t.failed == nil {
			t.failed = t.record(b)
		}
	}
	b.end = t.scan.offset
	t.row += int64(len(b.rows))
	if len(b.rows) == 0 && b.skipped == 0 {
		return nil, t.failed
	}
	return b, nil
}

// record adds the current record to b, or passes it over.
func (t *warcTable) record(b *warcBlock) error {
	r := t.scan.record
	if !r.hasText() {
		b.passed += r.length
		if err := t.scan.skip(); err != nil {
			return err
		}
		b.skipped++
		return nil
	}
	row := warcRow{warcRecord: r, start: len(b.text)}
	if r.length > int64(t.in.MaxRow) {
		if err := t.scan.skip(); err != nil {
			return err
		}
		b.bad = append(b.bad, BadRow{
			Row: len(b.rows), Offset: r.offset, Reason: BadRowLength, Detail: lengthDetail(r.length, t.in.MaxRow),
			Value: float64(r.length), Bound: float64(t.in.MaxRow),
		})
	} else {
		var err error
		if b.text, err = t.scan.appendBlock(b.text); err == nil {
			err = t.scan.skip() // the length is checked before the text counts
		}
		if err != nil {
			b.text = b.text[:row.start]
			return err
		}
	}
	row.end = len(b.text)
	b.rows = append(b.rows, row)
	return nil
}

// Schema implements [Table].
func (t *warcTable) Schema() *arrow.Schema { return warcSchema() }

// Position implements [Table].
func (t *warcTable) Position() TablePosition {
	return TablePosition{Row: t.row, Offset: t.scan.offset}
}

// Close implements [Table].
func (t *warcTable) Close() error {
	t.scan.stream.close()
	return nil
}

// warcRow is a record whose text is a part of its block's.
type warcRow struct {
	warcRecord
	start, end int
}

// warcBlock is some records and their texts.
type warcBlock struct {
	rows       []warcRow
	bad        []BadRow
	text       []byte
	begin, end int64 // in the stream
	skipped    int64
	passed     int64 // bytes of blocks that were passed over
}

// Len implements [Block].
func (b *warcBlock) Len() int { return len(b.rows) }

// Size implements [Block].
func (b *warcBlock) Size() int64 {
	size := int64(len(b.text)) + int64(len(b.rows))*int64(unsafe.Sizeof(warcRow{}))
	for i := range b.rows {
		r := &b.rows[i]
		size += int64(len(r.id) + len(r.uri) + len(r.date) + len(r.mime))
	}
	return size
}

// Release implements [Block].
func (b *warcBlock) Release() {}

// Read implements [Block].
func (b *warcBlock) Read(p *Projection) (*Rows, error) {
	out := &Rows{Bytes: b.end - b.begin, Skipped: b.skipped, Bad: b.bad, Columns: warcColumns}
	columns := make([]textColumn, len(warcColumns))
	for i := range columns {
		columns[i] = textColumn{wanted: true, checked: p.isText(warcColumns[i]), offsets: make([]int32, 1, len(b.rows)+1)}
	}
	bad := b.bad
	for number := range b.rows {
		r := &b.rows[number]
		if len(bad) > 0 && bad[0].Row == number {
			bad = bad[1:]
			continue
		}
		for i, value := range [...][]byte{[]byte(r.name()), b.text[r.start:r.end], []byte(r.uri), []byte(r.date), []byte(r.mime)} {
			if len(value) == 0 && warcColumns[i] != "text" {
				columns[i].null()
				continue
			}
			out.Replaced += columns[i].append(value, false)
		}
		out.Offsets = append(out.Offsets, r.offset)
	}
	arrays := make([]arrow.Array, len(columns))
	for i := range columns {
		arrays[i] = columns[i].finish()
		defer arrays[i].Release()
	}
	out.Batch = array.NewRecordBatch(warcSchema(), arrays, int64(len(out.Offsets)))
	return out, nil
}

func warcSchema() *arrow.Schema {
	fields := make([]arrow.Field, len(warcColumns))
	for i, name := range warcColumns {
		fields[i] = arrow.Field{Name: name, Type: arrow.BinaryTypes.String, Nullable: true}
	}
	return arrow.NewSchema(fields, nil)
}

// name is the id of the record: that which the archive gave it, or else its URI.
func (r *warcRow) name() string {
	if r.id != "" {
		return r.id
	}
	return r.uri
}
