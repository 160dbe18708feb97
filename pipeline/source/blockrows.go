package source

import (
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/rosaline-go/rosaline/stringtensor"
)

// blockRows are the rows of a block that a chunk stands for: from, from+step, …, count
// of them.
type blockRows struct {
	block      Block
	from, step int64
	count      int
	counts     bool // what belongs to the block as a whole: one rank does
}

// newBlockRows returns the rows of a block that rank has, where index rows of all inputs
// come before it.
func newBlockRows(b Block, index, rank, world int64) *blockRows {
	from := rank - index%world
	if from < 0 {
		from += world
	}
	r := &blockRows{block: b, from: from, step: world, counts: from == 0}
	if b.Len() == 0 {
		r.counts = rank == 0
	}
	if n := int64(b.Len()); n > from {
		r.count = int((n-from-1)/world + 1)
	}
	return r
}

func (r *blockRows) len() int { return r.count }

// has reports whether row n of the block is one of the rows.
func (r *blockRows) has(n int) bool {
	at := int64(n) - r.from
	return at >= 0 && at%r.step == 0 && at/r.step < int64(r.count)
}

func (r *blockRows) release() {
	if r.block != nil {
		r.block.Release()
		r.block = nil
	}
}

// tableDecoding makes the records of a chunk of a table.
type tableDecoding struct {
	cfg   *decoderConfig
	chunk *Chunk
	rows  *Rows
	out   *Records

	text, id cells
	keep     []uint32 // rows of the batch that are records
	numbers  []int    // their numbers in the block
}

// decodeTable is Decode for a chunk of a table.
func (d *Decoder) decodeTable(c *Chunk) (out *Records, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("source: %s: rows from %d on: %w", c.File, c.first, err)
		}
	}()
	defer recoveredPanic(&err)
	rows, err := c.rows.block.Read(&d.projection)
	if err != nil {
		return nil, err
	}
	defer rows.Batch.Release()
	g := tableDecoding{cfg: &d.cfg, chunk: c, rows: rows, out: &Records{
		file: c.File, first: c.first, padded: c.padded,
		Stats: Stats{Lines: int64(c.Len()), Dropped: c.dropped},
	}}
	if c.rows.counts {
		g.out.Stats.Bytes, g.out.Stats.Skipped, g.out.Stats.Replaced = rows.Bytes, rows.Skipped, rows.Replaced
	}
	defer g.text.release()
	defer g.id.release()
	if err := g.columns(&d.projection); err != nil {
		return nil, err
	}
	g.sort()
	if err := g.finish(); err != nil {
		return nil, err
	}
	if g.out.Meta, err = d.projection.metaOf(rows, g.keep); err != nil {
		g.out.Text.Release()
		g.out.ID.Release()
		return nil, err
	}
	return g.out, nil
}

// columns finds text and ids.
func (g *tableDecoding) columns(p *Projection) error {
	batch := g.rows.Batch
	text, err := findColumn(g.rows, p.paths[0])
	if err != nil {
		return fmt.Errorf("the text: %w", err)
	}
	defer text.Release()
	if g.text, err = cellsOf(text, g.cfg, false); err != nil {
		return fmt.Errorf("the text: %w", columnError(p.paths[0].text, err))
	}
	if len(p.paths) < 2 || !hasColumn(batch.Schema(), p.paths[1]) {
		return nil
	}
	id, err := findColumn(g.rows, p.paths[1])
	if err != nil {
		return fmt.Errorf("the id: %w", err)
	}
	defer id.Release()
	if g.id, err = cellsOf(id, g.cfg, true); err != nil {
		return fmt.Errorf("the id: %w", columnError(p.paths[1].text, err))
	}
	return nil
}

// columnError says which column has no text: it is of another type, or damaged.
func columnError(name string, err error) error {
	if errors.Is(err, ErrCorrupt) {
		return fmt.Errorf("column %q: %w", name, err)
	}
	return fmt.Errorf("%w: column %q: %w", ErrColumn, name, err)
}

// sort tells the rows that are records from those that are not.
func (g *tableDecoding) sort() {
	bad, row := g.rows.Bad, 0
	n, rows := g.rows.block(), int(g.rows.Batch.NumRows())
	g.keep = make([]uint32, 0, min(rows, g.chunk.Len()))
	g.numbers = make([]int, 0, cap(g.keep))
	for number := range n {
		if len(bad) > 0 && bad[0].Row == number {
			if g.chunk.rows.has(number) {
				b := &bad[0]
				g.reject(number, b.Offset, -1, b.Reason, b.Detail)
				g.out.Bad[len(g.out.Bad)-1].Value, g.out.Bad[len(g.out.Bad)-1].Bound = b.Value, b.Bound
			}
			bad = bad[1:]
			continue
		}
		if g.chunk.rows.has(number) {
			g.sortRow(number, row)
		}
		row++
	}
}

// block returns how many rows the block has.
func (r *Rows) block() int { return int(r.Batch.NumRows()) + len(r.Bad) }

// offset is where a row of the batch lies.
func (r *Rows) offset(row int) int64 {
	if r.Offsets == nil {
		return -1
	}
	return r.Offsets[row]
}

func (g *tableDecoding) sortRow(number, row int) {
	if f := g.text.fault(row); f != nil {
		g.reject(number, g.rows.offset(row), row, f.reason, "the text: "+f.detail)
		return
	}
	if f := g.id.fault(row); f != nil {
		g.reject(number, g.rows.offset(row), -1, f.reason, "the id: "+f.detail)
		return
	}
	g.out.Stats.Replaced += int64(g.text.replaced[row] + g.id.replaced[row])
	if g.text.column.IsNull(row) {
		g.out.Stats.Nulls++
	}
	g.keep = append(g.keep, uint32(row))
	g.numbers = append(g.numbers, number)
}

func (g *tableDecoding) pos(number int, offset int64) Position {
	return Position{File: g.chunk.File, Line: g.chunk.first + int64(number), Offset: offset}
}

// reject notes a bad record, whose id is in a row of the batch; −1 if it cannot be
// known.
func (g *tableDecoding) reject(number int, offset int64, row int, reason BadReason, detail string) {
	pos := g.pos(number, offset)
	b := BadRecord{Index: len(g.keep), Pos: pos, ID: pos.String(), Reason: reason, Err: lineError(pos, reason, detail)}
	if row >= 0 && g.id.has(row) && g.id.fault(row) == nil {
		b.ID, b.NumberID = g.id.column.At(row), g.id.number
	}
	g.out.Bad = append(g.out.Bad, b)
}

// finish makes the columns of the records.
func (g *tableDecoding) finish() (err error) {
	out := g.out
	if out.Text, err = pick(g.text.column, g.keep); err != nil {
		return err
	}
	out.places = make([]place, len(g.keep))
	whole := g.id.column != nil // every record has an id of its own
	for i, row := range g.keep {
		has := g.id.has(int(row))
		whole = whole && has
		out.places[i] = place{g.rows.offset(int(row)), int32(g.numbers[i]), has && g.id.number}
	}
	if whole {
		out.ID, err = pick(g.id.column, g.keep)
	} else {
		out.ID, err = g.ids()
	}
	if err != nil {
		out.Text.Release()
		return err
	}
	out.Stats.Records, out.Stats.Rejected = int64(len(g.keep)), int64(len(out.Bad))
	if g.rows.Bytes == 0 {
		out.Stats.Bytes = out.Text.PayloadBytes() + out.ID.PayloadBytes()
	}
	if g.chunk.padded {
		out.Stats = Stats{Padded: out.Stats.Records + out.Stats.Rejected}
	}
	return nil
}

// ids makes ids of places where records have none.
func (g *tableDecoding) ids() (*stringtensor.Column, error) {
	var b stringtensor.Builder
	var buf []byte
	last := g.pos(g.rows.block(), 0)
	b.Reserve(len(g.keep), len(g.keep)*len(last.appendTo(nil)))
	for i, row := range g.keep {
		if g.id.has(int(row)) {
			buf = append(buf[:0], g.id.column.Bytes(int(row))...)
		} else {
			buf = g.pos(g.numbers[i], 0).appendTo(buf[:0])
		}
		if err := b.Append(buf); err != nil {
			return nil, err
		}
	}
	return b.Finish(), nil
}

// contiguous reports whether rows, which ascend, have no gap.
func contiguous(rows []uint32) bool {
	return len(rows) == 0 || int(rows[len(rows)-1]-rows[0]) == len(rows)-1
}

// pick returns rows of a column.
func pick(c *stringtensor.Column, rows []uint32) (*stringtensor.Column, error) {
	switch {
	case len(rows) == 0:
		return c.Slice(0, 0)
	case contiguous(rows):
		return c.Slice(int(rows[0]), int(rows[len(rows)-1])+1)
	}
	return c.Take(rows)
}

// pickRows returns rows of a batch. Rows that follow one another are a slice of it;
// others are copied.
func pickRows(batch arrow.RecordBatch, rows []uint32) (out arrow.RecordBatch, err error) {
	switch {
	case len(rows) == 0:
		return batch.NewSlice(0, 0), nil
	case contiguous(rows):
		return batch.NewSlice(int64(rows[0]), int64(rows[len(rows)-1])+1), nil
	}
	columns := make([]arrow.Array, 0, batch.NumCols())
	defer func() {
		for _, c := range columns {
			c.Release()
		}
	}()
	for _, c := range batch.Columns() {
		picked, err := pickArray(c, rows)
		if err != nil {
			return nil, err
		}
		columns = append(columns, picked)
	}
	return array.NewRecordBatch(batch.Schema(), columns, int64(len(rows))), nil
}

func pickArray(c arrow.Array, rows []uint32) (arrow.Array, error) {
	parts := make([]arrow.Array, 0, len(rows))
	defer func() {
		for _, p := range parts {
			p.Release()
		}
	}()
	for i := 0; i < len(rows); {
		j := i + 1
		for j < len(rows) && rows[j] == rows[j-1]+1 {
			j++
		}
		parts = append(parts, array.NewSlice(c, int64(rows[i]), int64(rows[j-1])+1))
		i = j
	}
	return array.Concatenate(slices.Clip(parts), memory.DefaultAllocator)
}
