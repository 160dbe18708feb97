package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/rosaline-go/rosaline/pipeline"
)

// lineShard says which lines are those of a rank. A row is world lines, one for
// each rank.
type lineShard struct {
	rank, world int64 // of world 1: every line
	mode        pipeline.ShardMode
	turn        int64 // the rank that has the line being filled if it is not blank
	padded      bool  // the line for padding has been given out

	// Under Drop a line waits until its row is complete: as the last one of the
	// chunk being filled, or held when its input ends before.
	waiting bool
	before  chunkCounts // of the chunk without the line
	at      linePlace   // of the line
	held    *Chunk
	heldAt  ReaderPosition

	heldErrors int // errors of inputs since a line is held
	known      int // errors of inputs to come that were returned before a resume
}

func (s *lineShard) begin(c pipeline.Sharding, p ReaderPosition) {
	s.rank, s.world, s.mode = int64(c.Rank), int64(c.World), c.Mode
	if s.world == 1 {
		s.mode = pipeline.Uneven // no row is short, and nothing waits
	}
	s.turn, s.padded, s.known = p.Index%s.world, p.Padded, p.Errors
}

// wait notes the line that comes next in c as one whose row is not complete.
func (s *lineShard) wait(c *Chunk, at linePlace) {
	s.waiting, s.before, s.at = true, c.chunkCounts, at
}

// pass goes on to the next line of the row.
func (s *lineShard) pass() {
	if s.turn++; s.turn == s.world {
		s.turn, s.waiting = 0, false
	}
}

// knows notes an error of an input, and reports whether it was returned before
// reading was resumed: at a line that is held, with errors behind it.
func (s *lineShard) knows(err error) bool {
	if s.held != nil {
		s.heldErrors++
	}
	if s.known == 0 || errors.Is(err, ErrPosition) {
		return false
	}
	s.known--
	return true
}

// due returns the chunk that was held if its row is complete.
func (s *lineShard) due() *Chunk {
	h := s.held
	if h == nil || s.waiting {
		return nil
	}
	s.held = nil
	return h
}

// holdLine takes the line that waits out of c, of an input that ends. What was
// counted after the line goes with it, so that none of it is counted twice when
// reading goes on at its place.
func (r *Reader) holdLine(c *Chunk) {
	s := &r.shard
	if s.held != nil {
		s.held.add(c.chunkCounts)
		c.chunkCounts = chunkCounts{}
		return
	}
	i := len(c.spans) - 1
	l := c.Line(i)
	h := r.pool.get(c.File, c.Format, l.Pos.Line)
	h.data = append(h.data, l.Data...)
	h.numbers = append(h.numbers, 0)
	h.spans = append(h.spans, lineSpan{offset: l.Pos.Offset, end: uint32(len(h.data))})
	if l.TooLong {
		h.long = append(h.long, l.Length)
		h.spans[0].end = overCap
		c.long = c.long[:len(c.long)-1]
	} else {
		c.data = c.data[:c.spans[i].start]
		r.in.lineStart = len(c.data)
	}
	c.spans, c.numbers = c.spans[:i], c.numbers[:i]
	h.chunkCounts = c.chunkCounts
	h.subtract(s.before)
	c.chunkCounts = s.before
	s.held, s.heldAt, s.heldErrors = h, r.position(s.at), 0
}

// endShard returns what comes after the last input.
func (r *Reader) endShard(ctx context.Context) (*Chunk, error) {
	s := &r.shard
	if h := s.held; h != nil {
		s.held, s.waiting = nil, false
		h.spans, h.numbers, h.long = h.spans[:0], h.numbers[:0], h.long[:0]
		h.dropped++
		return h, nil
	}
	if s.mode != pipeline.Pad || s.turn == 0 || s.rank < s.turn || s.padded {
		return nil, io.EOF
	}
	c, err := r.padding(ctx, (r.index-s.turn+s.rank)%r.index)
	if err == nil {
		s.padded = true
	}
	return c, err
}

// padding reads the line at a position again.
func (r *Reader) padding(ctx context.Context, index int64) (*Chunk, error) {
	again := &Reader{inputs: r.inputs, cfg: r.cfg}
	again.cfg.position, again.cfg.chunkLines, again.cfg.shard = ReaderPosition{}, 1, pipeline.Sharding{World: 1}
	if err := again.prepare(); err != nil {
		return nil, err
	}
	defer again.Close()
	again.shard.rank, again.shard.world = index, math.MaxInt64
	for {
		c, err := again.Next(ctx)
		switch {
		case err == nil && c.Len() > 0:
			c.chunkCounts, c.padded = chunkCounts{}, true
			return c, nil
		case err == nil:
			c.Release()
		case ctx.Err() != nil && err == ctx.Err():
			return nil, err
		case err == io.EOF:
			return nil, fmt.Errorf("%w: line %d, for padding, is not there any more; give the inputs as they were", ErrPosition, index)
		}
		// Another error has been returned when the input was first read.
	}
}

// ShardInputs returns the inputs of one rank: those whose number is rank modulo
// world. Ranks beyond the number of inputs have none. The error is [ErrOption].
func ShardInputs(inputs []Input, rank, world int) ([]Input, error) {
	if err := checkRank(rank, world); err != nil {
		return nil, err
	}
	return shardOf(inputs, rank, world), nil
}
