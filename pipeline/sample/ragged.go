package sample

import (
	"fmt"
	"math"
)

// RaggedOption is an option of [RaggedCollate].
type RaggedOption interface{ ragged(*raggedConfig) }

type raggedConfig struct {
	collateConfig
	fields    fieldNames
	maxOffset int64
}

type raggedOption func(*raggedConfig)

func (f raggedOption) ragged(c *raggedConfig) { f(c) }

// WithMaxOffset sets the largest number of rows of a ragged field of a batch; default
// and end of the range is 2³²−1, what the offsets can count. It begins at 1. Tests
// lower it to reach the limit with little memory.
func WithMaxOffset(n int64) RaggedOption {
	return raggedOption(func(c *raggedConfig) { c.maxOffset = n })
}

func (c *raggedConfig) validate() error {
	if err := c.collateConfig.validate(); err != nil {
		return err
	}
	if err := c.fields.validate(); err != nil {
		return err
	}
	if c.maxOffset < 1 || c.maxOffset > math.MaxUint32 {
		return fmt.Errorf("%w: WithMaxOffset(%d) is not from 1 to %d", ErrOption, c.maxOffset, uint32(math.MaxUint32))
	}
	return nil
}

// RaggedCollate returns a collate for fields whose first dimension differs from
// sample to sample. Of N samples it makes two fields of each such field:
//
//	name          the items' rows one after the other, [rows d1 d2 …]
//	name_offsets  u32[N+1]: item i is rows offsets[i] to offsets[i+1]; the first is 0
//
// Both lie in memory as a device takes them. By default these are all fields of at least
// one dimension; see [WithFields]. The others are stacked. Type and the other
// dimensions must be the same, and the rest is as for [DefaultCollate]. Strings are
// ragged too. The error is [ErrOption].
//
// The errors of the collate wrap [ErrCollate], and [ErrOffsetOverflow] where a field
// has too many rows.
func RaggedCollate(opts ...RaggedOption) (CollateFunc, error) {
	c := &raggedConfig{collateConfig: collateConfig{defaultMaxFieldBytes}, maxOffset: math.MaxUint32}
	for _, o := range opts {
		if o == nil {
			return nil, fmt.Errorf("%w: nil", ErrOption)
		}
		o.ragged(c)
	}
	if err := c.validate(); err != nil {
		return nil, err
	}
	return c.collate, nil
}

func (c *raggedConfig) free(name string, rank int) uint32 {
	if c.fields.holds(name, rank, 0) {
		return 1
	}
	return 0
}

func (c *raggedConfig) collate(batch []Sample) (Sample, error) {
	s, err := newSchema(batch, c.free, false)
	if err != nil {
		return Sample{}, err
	}
	if err := c.fields.check(batch[0], 0); err != nil {
		return Sample{}, err
	}
	fields := make([]Field, 0, 2*len(batch[0].fields))
	for j, f := range batch[0].fields {
		if c.free(f.Name, f.Tensor.Rank()) == 0 {
			t, err := s.stack(j, c.maxBytes)
			if err != nil {
				return Sample{}, fieldError(f.Name, err)
			}
			fields = append(fields, Field{f.Name, t})
			continue
		}
		offsets, err := s.offsets(j, c.maxOffset)
		if err != nil {
			return Sample{}, fieldError(f.Name, err)
		}
		t, err := s.join(j, int(offsets[len(batch)]), c.maxBytes)
		if err != nil {
			return Sample{}, fieldError(f.Name, err)
		}
		fields = append(fields, Field{f.Name, t}, Field{f.Name + "_offsets", Vector(offsets)})
	}
	return s.newBatch(fields)
}

// offsets returns where the rows of each item of field j begin, and the number of all.
func (s *schema) offsets(j int, limit int64) ([]uint32, error) {
	out := make([]uint32, len(s.batch)+1)
	var rows uint64
	limit = min(limit, math.MaxInt) // int may have 32 bits
	for i := range s.batch {
		rows += uint64(s.at(i, j).shape()[0]) // both are below 2⁶³
		if rows > uint64(limit) {
			return nil, fmt.Errorf("%w: %d rows and more up to item %d, the limit is %d; make smaller batches", ErrOffsetOverflow, rows, i, limit)
		}
		out[i+1] = uint32(rows)
	}
	return out, nil
}

// join returns the rows of field j of all items.
func (s *schema) join(j, rows int, maxBytes int64) (Tensor, error) {
	var buf [MaxRank]int
	shape := append(buf[:0], s.at(0, j).shape()...)
	shape[0] = rows
	t := Tensor{dtype: s.at(0, j).dtype}
	if err := t.setShape(shape); err != nil {
		return Tensor{}, err
	}
	if err := t.checkSize(maxBytes); err != nil {
		return Tensor{}, err
	}
	if err := s.fill(&t, j); err != nil {
		return Tensor{}, err
	}
	return t, nil
}
