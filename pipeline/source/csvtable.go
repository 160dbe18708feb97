package source

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// csvTable finds the rows of CSV; their cells are found by whoever reads the block.
type csvTable struct {
	in     TableInput
	stream *tableStream
	scan   csvScan // of the row that buf begins with
	schema *arrow.Schema

	buf    []byte // read and not given out; blocks have the memory before it
	ended  bool   // nothing comes after buf
	failed error  // what comes after buf
	offset int64  // of buf in the stream
	row    int64  // rows before buf
}

// openCSVTable implements [OpenTable].
func openCSVTable(ctx context.Context, in TableInput) (Table, error) {
	stream, err := openTableStream(ctx, &in)
	if err != nil {
		return nil, err
	}
	delimiter := ","
	if in.Format == FormatTSV {
		delimiter = "\t"
	}
	t := &csvTable{in: in, stream: stream, scan: csvScan{delimiter: []byte(delimiter)}}
	if err := t.begin(); err != nil {
		stream.close()
		return nil, err
	}
	return t, nil
}

// begin reads the header and goes to the place at which the table is opened.
func (t *csvTable) begin() error {
	for len(t.buf) < len(byteOrderMark) && !t.ended && t.failed == nil {
		t.more()
	}
	if bytes.HasPrefix(t.buf, byteOrderMark) {
		t.drop(len(byteOrderMark))
	}
	if err := t.header(); err != nil {
		return err
	}
	pass := t.in.At.Offset - t.offset
	switch {
	case pass <= 0:
		return nil
	case pass <= int64(len(t.buf)):
		t.drop(int(pass))
	case t.ended:
		return fmt.Errorf("%w: it ends at byte %d, the place is at byte %d; give the file as it was, or start anew", ErrPosition, t.offset+int64(len(t.buf)), t.in.At.Offset)
	default:
		t.buf = nil
		if err := t.stream.seek(&t.in, t.in.At.Offset); err != nil {
			return err
		}
		t.offset = t.in.At.Offset
	}
	t.row = t.in.At.Row
	return nil
}

// drop takes n bytes off the buffer.
func (t *csvTable) drop(n int) {
	t.buf = t.buf[n:]
	t.offset += int64(n)
}

// more reads until the buffer is full, the input ends, or a pipe has given something. A
// full buffer is copied to another one, twice as long as what is left of it. What fails is
// told when the rows before it have been given out.
func (t *csvTable) more() {
	if t.ended || t.failed != nil {
		return
	}
	if len(t.buf) == cap(t.buf) {
		t.buf = append(make([]byte, 0, max(t.in.BlockBytes, 2*len(t.buf), bytes.MinRead)), t.buf...)
	}
	for len(t.buf) < cap(t.buf) {
		n, err := t.stream.Read(t.buf[len(t.buf):cap(t.buf)])
		t.buf = t.buf[:len(t.buf)+n]
		switch {
		case err == io.EOF:
			t.ended = true
			return
		case err != nil:
			t.failed = err
			return
		case t.stream.live:
			return
		}
	}
}

// take returns the row that the buffer begins with, with its length there and what is wrong
// with it; 0 if it is not all there.
func (t *csvTable) take(buf []byte) (row []byte, length int, wrong string) {
	n := t.scan.row(buf, t.ended)
	if n == 0 {
		return nil, 0, ""
	}
	wrong = t.scan.detail
	t.scan.begin()
	return trimLineEnd(buf[:n], t.ended && n == len(buf)), n, wrong
}

// header finds the names of the columns: the first row, or their numbers.
func (t *csvTable) header() error {
	var names []string
	for len(names) == 0 {
		row, n, wrong := t.take(t.buf)
		switch {
		case n == 0 && t.ended:
			return nil // no row at all
		case n == 0 && len(t.buf) > t.in.MaxRow+2:
			return fmt.Errorf("%w: the first row has more than %d bytes", ErrHeader, t.in.MaxRow)
		case n == 0 && t.failed != nil:
			return t.failed
		case n == 0:
			t.more()
			continue
		case wrong != "":
			return fmt.Errorf("%w: at byte %d: %w: %s", ErrHeader, t.offset, ErrCSV, wrong)
		case len(row) > 0:
			names = t.columns(row)
		}
		if t.in.Header || len(row) == 0 {
			t.drop(n)
		}
	}
	if _, err := newCSVHeader(names, nil); err != nil {
		return err
	}
	fields := make([]arrow.Field, len(names))
	for i, name := range names {
		if !utf8.ValidString(name) {
			return fmt.Errorf("%w: the name %s is not UTF-8", ErrHeader, quoteName(name))
		}
		fields[i] = arrow.Field{Name: name, Type: arrow.BinaryTypes.String, Nullable: true}
	}
	t.schema = arrow.NewSchema(fields, nil)
	return nil
}

// columns returns the names that the first row stands for.
func (t *csvTable) columns(row []byte) (names []string) {
	csvFields(row, t.scan.delimiter, func(content []byte, quoted bool) {
		switch {
		case !t.in.Header:
			content = strconv.AppendInt([]byte("col_"), int64(len(names)), 10)
		case quoted:
			content = appendCSVField(nil, content)
		}
		names = append(names, string(content))
	})
	return names
}

// Next implements [Table].
func (t *csvTable) Next(ctx context.Context) (Block, error) {
	t.stream.ctx = ctx
	for {
		b, short := t.block()
		if b != nil {
			return b, nil
		}
		switch {
		case t.failed != nil:
			return nil, t.unfinished(int64(len(t.buf)))
		case t.ended:
			return nil, io.EOF
		case !short && len(t.buf) > t.in.MaxRow+2:
			return t.longRow()
		case ctx.Err() != nil:
			return nil, ctx.Err()
		}
		t.more()
	}
}

// block returns the rows that the buffer begins with. There is none if it has no whole row, or,
// short, if the block would be longer with more of the input: where it ends depends on where it
// begins alone, so that whoever goes on there gets the same ones. A pipe is not waited for.
func (t *csvTable) block() (_ Block, short bool) {
	b := &csvBlock{schema: t.schema, delimiter: t.scan.delimiter, offset: t.offset}
	at := 0
	for len(b.rows) < t.in.BlockRows && (len(b.rows) == 0 || at-b.rows[0].start < t.in.BlockBytes) {
		row, n, wrong := t.take(t.buf[at:])
		long := n == 0 && len(t.buf)-at > t.in.MaxRow+2 || len(row) > t.in.MaxRow
		if long && len(b.rows) > 0 {
			// It is a block of its own, whether all of it is there or not.
			t.scan.begin()
			break
		}
		if n == 0 {
			if len(b.rows) > 0 && !t.ended && t.failed == nil && !t.stream.live {
				t.scan.begin()
				return nil, true
			}
			break
		}
		if len(row) > 0 {
			number, offset := len(b.rows), t.offset+int64(at)
			b.rows = append(b.rows, csvRow{at, at + len(row)})
			switch {
			case len(row) > t.in.MaxRow:
				b.bad = append(b.bad, longCSVRow(number, offset, int64(len(row)), t.in.MaxRow))
			case wrong != "":
				b.bad = append(b.bad, BadRow{Row: number, Offset: offset, Reason: BadCSV, Detail: wrong})
			}
		}
		at += n
		if long {
			break
		}
	}
	b.data = t.buf[:at:at]
	t.drop(at)
	t.row += int64(len(b.rows))
	if len(b.rows) == 0 {
		return nil, false
	}
	return b, false
}

func longCSVRow(row int, offset, length int64, most int) BadRow {
	return BadRow{Row: row, Offset: offset, Reason: BadRowLength, Detail: lengthDetail(length, most), Value: float64(length), Bound: float64(most)}
}

// longRow passes over the row that the buffer begins with, which is over the cap, and
// returns a block of it alone.
func (t *csvTable) longRow() (Block, error) {
	offset, length := t.offset, int64(0)
	for {
		row, n, _ := t.take(t.buf)
		if n > 0 || t.ended {
			t.drop(n)
			t.row++
			length += int64(len(row))
			return &csvBlock{schema: t.schema, rows: make([]csvRow, 1), bad: []BadRow{longCSVRow(0, offset, length, t.in.MaxRow)}}, nil
		}
		passed := len(t.buf) - len(t.scan.forget(t.buf))
		t.drop(passed)
		length += int64(passed)
		if t.failed != nil {
			return nil, t.unfinished(length + int64(len(t.buf)))
		}
		t.more()
	}
}

// unfinished is the error of the stream inside a row of which so many bytes are there.
func (t *csvTable) unfinished(length int64) error {
	if length == 0 {
		return t.failed
	}
	return fmt.Errorf("%w; an unfinished row was not delivered, its length in bytes: %d", t.failed, length)
}

// Schema implements [Table]: a file without a header has no columns.
func (t *csvTable) Schema() *arrow.Schema { return t.schema }

// Position implements [Table].
func (t *csvTable) Position() TablePosition { return TablePosition{Row: t.row, Offset: t.offset} }

// Close implements [Table].
func (t *csvTable) Close() error {
	t.stream.close()
	return nil
}

// csvRow is where a row lies in the data of its block, without its end of line.
type csvRow struct{ start, end int }

// csvBlock is rows whose cells have not been looked at.
type csvBlock struct {
	schema    *arrow.Schema
	delimiter []byte
	data      []byte
	offset    int64 // of data in the stream
	rows      []csvRow
	bad       []BadRow
}

// Len implements [Block].
func (b *csvBlock) Len() int { return len(b.rows) }

// Size implements [Block].
func (b *csvBlock) Size() int64 {
	return int64(len(b.data)) + int64(len(b.rows))*int64(unsafe.Sizeof(csvRow{}))
}

// Release implements [Block].
func (b *csvBlock) Release() {}

// Read implements [Block].
func (b *csvBlock) Read(p *Projection) (*Rows, error) {
	out := &Rows{Bytes: int64(len(b.data)), Offsets: make([]int64, 0, len(b.rows)), Columns: fieldNames(b.schema.Fields())}
	columns := make([]textColumn, b.schema.NumFields())
	wanted := 0
	for i, f := range b.schema.Fields() {
		if columns[i].wanted = p.Wants(f.Name); columns[i].wanted {
			wanted++
			columns[i].offsets = make([]int32, 1, len(b.rows)+1)
			columns[i].checked = p.isText(f.Name)
		}
	}
	bad := b.bad
	for number, r := range b.rows {
		if len(bad) > 0 && bad[0].Row == number {
			out.Bad, bad = append(out.Bad, bad[0]), bad[1:]
			continue
		}
		at, replaced := 0, int64(0)
		csvFields(b.data[r.start:r.end], b.delimiter, func(content []byte, quoted bool) {
			if at < len(columns) && columns[at].wanted {
				replaced += columns[at].append(content, quoted)
			}
			at++
		})
		offset := b.offset + int64(r.start)
		if at == len(columns) {
			out.Offsets = append(out.Offsets, offset)
			out.Replaced += replaced
			continue
		}
		for i := range columns[:min(at, len(columns))] {
			columns[i].undo(len(out.Offsets))
		}
		out.Bad = append(out.Bad, BadRow{
			Row: number, Offset: offset, Reason: BadFieldCount, Value: float64(at), Bound: float64(len(columns)),
			Detail: fmt.Sprintf("%d, the table has %d columns", at, len(columns)),
		})
	}
	fields, arrays := make([]arrow.Field, 0, wanted), make([]arrow.Array, 0, wanted)
	for i, f := range b.schema.Fields() {
		if columns[i].wanted {
			fields = append(fields, f)
			arrays = append(arrays, columns[i].finish())
		}
	}
	out.Batch = array.NewRecordBatch(arrow.NewSchema(fields, nil), arrays, int64(len(out.Offsets)))
	for _, a := range arrays {
		a.Release()
	}
	return out, nil
}
