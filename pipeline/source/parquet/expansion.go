package parquet

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/metadata"
)

// A column chunk can stand for far more bytes than it has: values are numbers of entries of a
// dictionary, whose entries may be long. The footer does not tell; the pages do. So that
// a row group is not read at once because its pages are small, the values of pages are counted
// here before: their lengths are those of the dictionary, which is decompressed for it, as are the
// numbers. Pages of other encodings are passed over by their headers.

// expansion is what the values of a row group take that its pages do not show.
type expansion struct {
	bytes      int64 // of values in dictionaries, in full
	widest     int64 // bytes a row may have by a single value of each column
	dictionary int64 // bytes of dictionaries that come with every batch
}

// negligible is how many bytes by which a column may grow without being looked at closely.
const negligible = groupBytes / 16

// expand counts a row group.
func (t *table) expand(group int) (e expansion) {
	g := t.meta.RowGroup(group)
	for _, leaf := range t.leaves {
		chunk, err := g.ColumnChunk(leaf)
		if err != nil {
			continue // reading tells
		}
		c := t.expandColumn(chunk, leaf)
		e.bytes += c.bytes
		if t.keepsDictionary(leaf) {
			e.dictionary += c.dictionary
		} else {
			e.widest += c.widest
		}
	}
	return e
}

// keepsDictionary reports whether the library gives a column of the file with its dictionary.
func (t *table) keepsDictionary(leaf int) bool {
	if t.schema == nil {
		return false
	}
	for _, i := range t.schema.FieldIndices(t.meta.Schema.ColumnRoot(leaf).Name()) {
		if t.schema.Field(i).Type.ID() == arrow.DICTIONARY {
			return true
		}
	}
	return false
}

// expandColumn counts a column chunk. One whose pages are not understood counts as if each
// value were as long as the largest page.
func (t *table) expandColumn(chunk *metadata.ColumnChunkMetaData, leaf int) (e expansion) {
	column := t.meta.Schema.Column(leaf)
	fixed := int64(0)
	switch column.PhysicalType() {
	case parquet.Types.ByteArray:
	case parquet.Types.FixedLenByteArray:
		fixed = int64(column.TypeLength())
	default:
		return e // a few bytes each
	}
	begin := chunk.DataPageOffset()
	if chunk.HasDictionaryPage() && chunk.DictionaryPageOffset() > 0 {
		begin = min(begin, chunk.DictionaryPageOffset())
	}
	w := pageWalk{
		at: t.at, next: begin, end: begin + chunk.TotalCompressedSize(), codec: chunk.Compression(), most: t.in.MaxBlock,
		repeated: column.MaxRepetitionLevel() > 0, optional: column.MaxDefinitionLevel() > 0,
	}
	var dictionary page
	var numbers []page
	values, largest, known := int64(0), int64(0), true
	for left := chunk.NumValues(); left > 0; {
		p, ok := w.page()
		if !ok {
			known = false
			break
		}
		switch {
		case p.kind == dictionaryPage && dictionary.values == 0:
			dictionary = p
			e.dictionary = p.size
		case p.kind != dataPage && p.kind != dataPageV2:
			continue
		default:
			left -= p.values
		}
		switch {
		case p.kind == dictionaryPage:
		case p.encoding == plainDictionary, p.encoding == rleDictionary:
			numbers = append(numbers, p)
			values += p.values
		case p.encoding == prefixDelta:
			// A value may repeat the one before.
			known = false
			values += p.values
		}
		largest = max(largest, p.size)
	}
	switch {
	case fixed > 0:
		e.widest = fixed
		e.bytes = saturated(values, fixed)
		return e
	case values == 0 && known:
		return expansion{}
	case !known:
		e.widest = largest
		e.bytes = saturated(max(values, chunk.NumValues()), largest)
		return e
	}
	lengths, ok := w.lengths(dictionary)
	for _, n := range lengths {
		e.widest = max(e.widest, int64(n))
	}
	if !ok {
		e.widest = largest
	}
	e.bytes = saturated(values, e.widest)
	if !ok || e.bytes <= negligible {
		return e
	}
	sum := int64(0)
	for _, p := range numbers {
		n, ok := w.sum(p, lengths)
		if !ok {
			return e
		}
		sum = min(sum+n, maxExpansion)
	}
	e.bytes = sum
	return e
}

// maxExpansion is where sizes end, so that a few of them can be added.
const maxExpansion = 1 << 48

func saturated(n, size int64) int64 {
	hi, lo := bits.Mul64(uint64(max(n, 0)), uint64(max(size, 0)))
	if hi != 0 || lo > maxExpansion {
		return maxExpansion
	}
	return int64(lo)
}

// page is a page of a column, and where what follows its header lies.
type page struct {
	pageHeader
	offset int64
}

// pageWalk goes through the pages of a column chunk.
type pageWalk struct {
	at                 io.ReaderAt
	next, end          int64
	codec              compress.Compression
	most               int64 // bytes of a page that is read
	repeated, optional bool
}

const (
	smallHeader = 1 << 10
	largeHeader = 16 << 20
)

// page returns the next page; ok is false if there is none that is understood.
func (w *pageWalk) page() (p page, ok bool) {
	for size := int64(smallHeader); size <= largeHeader; size *= 16 {
		room := min(size, w.end-w.next)
		if room <= 0 {
			return page{}, false
		}
		buf := make([]byte, room)
		n, _ := w.at.ReadAt(buf, w.next)
		if h, length := parsePageHeader(buf[:n]); length > 0 {
			p = page{h, w.next + int64(length)}
			w.next = p.offset + p.compressed
			return p, w.next <= w.end
		}
		if int64(n) < size {
			return page{}, false
		}
	}
	return page{}, false
}

// body returns the bytes of a page, decompressed, levels of version 2 left out.
func (w *pageWalk) body(p page) (body []byte, ok bool) {
	if p.compressed > w.most || p.size > w.most || p.compressed > w.end-p.offset {
		return nil, false
	}
	raw := make([]byte, p.compressed-p.levels)
	if n, _ := w.at.ReadAt(raw, p.offset+p.levels); n < len(raw) {
		return nil, false
	}
	size := p.size - p.levels
	if !p.packed || w.codec == compress.Codecs.Uncompressed {
		return raw, true
	}
	codec, err := compress.GetCodec(w.codec)
	if err != nil {
		return nil, false
	}
	defer func() {
		if recover() != nil { // the library panics where a header of gzip is none
			body, ok = nil, false
		}
	}()
	switch w.codec {
	case compress.Codecs.Zstd, compress.Codecs.Gzip, compress.Codecs.Brotli:
		// What these claim is not bounded by what they have.
		r := codec.(compress.StreamingCodec).NewReader(bytes.NewReader(raw))
		defer r.Close()
		body = make([]byte, size)
		_, err = io.ReadFull(r, body)
		return body, err == nil
	case compress.Codecs.Snappy:
		if n, _ := binary.Uvarint(raw); n != uint64(size) {
			return nil, false
		}
	}
	body, err = compress.Decode(codec, make([]byte, size), raw)
	return body, err == nil && int64(len(body)) == size
}

// lengths returns those of the entries of a dictionary.
func (w *pageWalk) lengths(p page) (lengths []uint32, ok bool) {
	body, ok := w.body(p)
	if !ok || p.values > int64(len(body)/4) {
		return nil, false
	}
	lengths = make([]uint32, 0, p.values)
	for range p.values {
		if len(body) < 4 {
			return nil, false
		}
		n := binary.LittleEndian.Uint32(body)
		if uint64(n) > uint64(len(body)-4) {
			return nil, false
		}
		lengths = append(lengths, n)
		body = body[4+n:]
	}
	return lengths, true
}

// sum adds up the lengths of the values of a page of numbers of entries.
func (w *pageWalk) sum(p page, lengths []uint32) (sum int64, ok bool) {
	body, ok := w.body(p)
	if !ok {
		return 0, false
	}
	if p.kind == dataPage {
		for _, levels := range [...]bool{w.repeated, w.optional} {
			if !levels {
				continue
			}
			if len(body) < 4 {
				return 0, false
			}
			n := binary.LittleEndian.Uint32(body)
			if uint64(n) > uint64(len(body)-4) {
				return 0, false
			}
			body = body[4+n:]
		}
	}
	if len(body) == 0 {
		return 0, true // all are null
	}
	return sumOfRuns(body[1:], int(body[0]), p.values, lengths)
}

// sumOfRuns adds up the lengths of up to so many entries whose numbers, of so many bits, are
// in the hybrid of runs and packed bits of Parquet. The last group of eight may have
// numbers beyond the last value.
func sumOfRuns(b []byte, width int, values int64, lengths []uint32) (sum int64, ok bool) {
	if width > 32 {
		return 0, false
	}
	for values > 0 && len(b) > 0 {
		head, n := binary.Uvarint(b)
		if n <= 0 || head>>1 == 0 {
			return 0, false
		}
		b = b[n:]
		count := int64(min(head>>1, 1<<40))
		if head&1 == 0 || width == 0 { // all the same number
			size := (width + 7) / 8
			if len(b) < size {
				return 0, false
			}
			entry := uint64(0)
			for i := range size {
				entry |= uint64(b[i]) << (8 * i)
			}
			b = b[size:]
			if entry >= uint64(len(lengths)) {
				return 0, false
			}
			if head&1 == 1 {
				count *= 8
			}
			count = min(count, values)
			sum += count * int64(lengths[entry])
			values -= count
			continue
		}
		if count*int64(width) > int64(len(b)) { // groups of eight
			return 0, false
		}
		packed := b[:count*int64(width)]
		b = b[len(packed):]
		count = min(count*8, values)
		values -= count
		for bit := int64(0); count > 0; count-- {
			entry := uint64(0)
			for i := range (bit%8 + int64(width) + 7) / 8 {
				if at := bit/8 + i; at < int64(len(packed)) {
					entry |= uint64(packed[at]) << (8 * i)
				}
			}
			entry = entry >> (bit % 8) & (1<<width - 1)
			bit += int64(width)
			if entry >= uint64(len(lengths)) {
				return 0, false
			}
			sum += int64(lengths[entry])
		}
	}
	return min(sum, maxExpansion), true
}
