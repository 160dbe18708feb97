package inspection

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/rosaline-go/rosaline/pipeline/source"
	"github.com/rosaline-go/rosaline/stringtensor"
)

// messagesBegin is where the first message of an Arrow file lies.
const messagesBegin = 8

// arrowFile reads a file by its footer, and one without a footer as far as it goes.
func (r *Report) arrowFile(in io.ReaderAt) {
	r.Kind = KindArrowFile
	place := &placeReader{r: in}
	read, err := stringtensor.NewIPCFileReader(place, r.Bytes)
	if err == nil {
		r.arrowBatches(read, in, func() int64 { return place.first }, place.reset)
		return
	}
	// What is wrong with the footer is the fault, unless something before it is.
	r.arrowStream(in, messagesBegin)
	r.Kind = KindArrowFile
	if r.Fault == nil || errors.Is(err, io.ErrUnexpectedEOF) {
		r.fault(max(r.Bytes-10, 0), -1, "", fmt.Errorf("%w; %d batches with %d rows before it can be read as a stream from byte %d on",
			err, len(r.Batches), r.Rows, messagesBegin))
	}
}

// arrowStream reads the messages from byte at on.
func (r *Report) arrowStream(in io.ReaderAt, at int64) {
	r.Kind = KindArrowStream
	s := io.NewSectionReader(in, at, r.Bytes-at)
	tell := func() int64 {
		n, _ := s.Seek(0, io.SeekCurrent)
		return at + n
	}
	read, err := stringtensor.NewIPCStreamReader(s)
	if err != nil {
		r.fault(at, -1, "", err)
		return
	}
	begin := tell()
	r.arrowBatches(read, in, func() int64 { return begin }, func() { begin = tell() })
	if end := tell(); at == 0 && r.Sound && end < r.Bytes {
		r.fault(end, -1, "", fmt.Errorf("%d bytes behind the end of the stream", r.Bytes-end))
	}
}

// arrowBatches reads all batches. place tells where the last one began, and next is
// called before each.
func (r *Report) arrowBatches(read *stringtensor.IPCReader, in io.ReaderAt, place func() int64, next func()) {
	defer read.Close()
	r.schema(read.Schema())
	for group := 0; ; group++ {
		next()
		rec, err := read.NextRecord()
		if err == io.EOF {
			return
		}
		if err != nil {
			r.fault(place(), group, "", err)
			return
		}
		column, err := validate(rec)
		if err == nil {
			r.Rows += rec.NumRows()
			meta, body, codec := message(in, place())
			r.Batches = append(r.Batches, Group{Offset: place(), Rows: rec.NumRows(), Bytes: meta + body})
			if codec != "" {
				r.compressedBy(codec)
			}
		}
		rec.Release()
		if err != nil {
			r.fault(place(), group, column, err)
			return
		}
	}
}

// validate checks the arrays of a batch, and names the column at fault.
func validate(rec arrow.RecordBatch) (column string, err error) {
	defer recovered(&err)
	for i, c := range rec.Columns() {
		column = rec.ColumnName(i)
		if int64(c.Len()) != rec.NumRows() {
			return column, fmt.Errorf("%d rows of %d", c.Len(), rec.NumRows())
		}
		if err := source.ValidateArray(c); err != nil {
			return column, err
		}
	}
	return "", nil
}

// placeReader remembers the first place that was read since reset.
type placeReader struct {
	r     io.ReaderAt
	first int64
	read  bool
}

func (p *placeReader) reset() { p.read = false }

// ReadAt implements [io.ReaderAt].
func (p *placeReader) ReadAt(b []byte, at int64) (int, error) {
	if !p.read {
		p.first, p.read = at, true
	}
	return p.r.ReadAt(b, at)
}

// message reads the lengths of the metadata and the body of a message, which has been
// checked, and how the body is compressed, "" if it is not. Before a batch may lie
// dictionaries: then it tells of the first of those.
//
// The metadata are FlatBuffers: in a Message slot 2 is the header and slot 3 the length
// of the body; in a RecordBatch slot 3 is the compression, in which slot 0 is the codec.
func message(in io.ReaderAt, at int64) (meta, body int64, codec string) {
	defer func() {
		if recover() != nil {
			meta, body, codec = 0, 0, ""
		}
	}()
	head := make([]byte, 8)
	if _, err := in.ReadAt(head, at); err != nil {
		return 0, 0, ""
	}
	skip, n := int64(4), binary.LittleEndian.Uint32(head)
	if n == 0xFFFFFFFF {
		skip, n = 8, binary.LittleEndian.Uint32(head[4:])
	}
	b := make([]byte, n)
	if _, err := in.ReadAt(b, at+skip); err != nil {
		return 0, 0, ""
	}
	slot := func(table, i int) int { // 0 for none
		vtable := table - int(int32(binary.LittleEndian.Uint32(b[table:])))
		if size := int(binary.LittleEndian.Uint16(b[vtable:])); size < 6+2*i {
			return 0
		}
		if o := int(binary.LittleEndian.Uint16(b[vtable+4+2*i:])); o != 0 {
			return table + o
		}
		return 0
	}
	follow := func(at int) int { return at + int(binary.LittleEndian.Uint32(b[at:])) }
	root := follow(0)
	if s := slot(root, 3); s != 0 {
		body = int64(binary.LittleEndian.Uint64(b[s:]))
	}
	const recordBatch = 3
	if kind := slot(root, 1); kind != 0 && b[kind] == recordBatch {
		if s := slot(follow(slot(root, 2)), 3); s != 0 {
			codec = "lz4"
			if c := slot(follow(s), 0); c != 0 && b[c] == 1 {
				codec = "zstd"
			}
		}
	}
	return skip + int64(n), body, codec
}
