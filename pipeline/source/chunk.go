package source

import (
	"math"
	"sync"
)

// Chunk is a run of whole lines of one input. It belongs to one goroutine at a
// time. Its memory is pooled: after [Chunk.Release] neither the chunk nor any
// [Line.Data] taken from it may be used.
type Chunk struct {
	File   string // path of the input
	Format Format // never FormatAuto

	first   int64  // number of the first line, from 1
	data    []byte // the lines, each with its end
	spans   []lineSpan
	numbers []int32 // of the lines, less first; empty if they follow one another
	long    []int64 // lengths of the lines over the cap
	maxLine int     // cap the lines were held against
	padded  bool
	chunkCounts
	rows *blockRows // instead of lines in a chunk of a table
	pool *chunkPool
}

// chunkCounts is what a chunk stands for besides its lines.
type chunkCounts struct {
	bytes   int64 // of the stream: lines, their ends, byte order marks, lines over the cap
	boms    int64
	blank   int64 // blank lines that are not among the lines: those of a shard
	dropped int64 // lines left out by pipeline.Drop
}

func (n *chunkCounts) add(o chunkCounts) {
	n.bytes += o.bytes
	n.boms += o.boms
	n.blank += o.blank
	n.dropped += o.dropped
}

func (n *chunkCounts) subtract(o chunkCounts) {
	n.bytes -= o.bytes
	n.boms -= o.boms
	n.blank -= o.blank
	n.dropped -= o.dropped
}

// lineSpan is where a line lies. A line over the cap has no data: end is
// overCap and start its index in Chunk.long.
type lineSpan struct {
	offset     int64 // in the decompressed stream
	start, end uint32
}

const overCap = math.MaxUint32

// Line is one line of a chunk.
type Line struct {
	Pos Position
	// Data is the line without its end, LF or CR LF. It is nil for a line over
	// the cap.
	Data []byte
	// Length is that of the line in bytes, also when Data is nil.
	Length int64
	// TooLong tells that the line was over the cap of [WithMaxLine].
	TooLong bool
	// Padded tells that the line is padding, see [WithShard].
	Padded bool
}

// Len returns the number of lines, blank ones and those over the cap included. A
// chunk without lines stands for byte order marks, or for what was counted
// between the lines of a shard.
func (c *Chunk) Len() int {
	if c.rows != nil {
		return c.rows.len()
	}
	return len(c.spans)
}

// Bytes returns how many bytes of the decompressed stream the chunk stands for.
func (c *Chunk) Bytes() int64 { return c.bytes }

// Line returns line i, counted from 0 in the chunk. It panics when i is out of
// range, as indexing a slice does. A chunk of a table has rows, which [Decoder.Decode]
// gives, and no lines.
func (c *Chunk) Line(i int) Line {
	s := c.spans[i]
	l := Line{Pos: Position{c.File, c.first + int64(c.line(i)), s.offset}, Padded: c.padded}
	if s.end == overCap {
		l.Length, l.TooLong = c.long[s.start], true
		return l
	}
	l.Data = c.data[s.start:s.end:s.end]
	l.Length = int64(len(l.Data))
	return l
}

// isBlank reports whether a line of the chunk, within the cap, is blank.
func (c *Chunk) isBlank(line []byte) bool {
	if c.Format == FormatText {
		return len(line) == 0
	}
	return isBlank(line)
}

// line returns how many lines of the input lie between the first one of the chunk and
// line i.
func (c *Chunk) line(i int) int32 {
	if len(c.numbers) > 0 {
		return c.numbers[i]
	}
	return int32(i)
}

// AsPadding implements [pipeline.PadMarker]: it marks all lines as padding.
func (c *Chunk) AsPadding() *Chunk {
	c.padded = true
	return c
}

// Size implements [pipeline.Sizer]: the bytes of the lines, or an estimate of those that
// the rows of a table take when they are read. A rank's rows come with all of their block.
func (c *Chunk) Size() int64 {
	size := int64(len(c.data)) + int64(len(c.spans))*16
	if c.rows != nil && c.rows.block != nil {
		size += c.rows.block.Size()
	}
	return size
}

// Release gives the memory back to the reader. It may be called from any
// goroutine, once; a chunk that is not released is garbage collected.
func (c *Chunk) Release() {
	if c.rows != nil {
		c.rows.release()
	}
	if p := c.pool; p != nil {
		c.pool = nil
		p.put(c)
	}
}

// maxFirstChunk is the most memory in bytes a chunk is given before there are
// lines to fill it.
const maxFirstChunk = 1 << 20

// chunkPool keeps chunks of the usual size for reuse.
type chunkPool struct {
	pool    sync.Pool
	bytes   int // usual size of data
	maxLine int
}

func (p *chunkPool) get(file string, format Format, first int64) *Chunk {
	c, _ := p.pool.Get().(*Chunk)
	if c == nil {
		c = &Chunk{data: make([]byte, 0, min(p.bytes+p.bytes/4, maxFirstChunk))}
	}
	*c = Chunk{
		File: file, Format: format, first: first, maxLine: p.maxLine, pool: p,
		data: c.data[:0], spans: c.spans[:0], numbers: c.numbers[:0], long: c.long[:0],
	}
	return c
}

// put keeps c unless one long line has made it large: a pool of those would hold
// many times the memory of the usual ones.
func (p *chunkPool) put(c *Chunk) {
	if cap(c.data)/4 <= p.bytes {
		p.pool.Put(c)
	}
}
