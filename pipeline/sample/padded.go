package sample

import (
	"fmt"
	"math"
	"slices"

	"github.com/rosaline-go/rosaline/pipeline"
	"github.com/rosaline-go/rosaline/stringtensor"
)

// PaddedOption is an option of [PaddedCollate].
type PaddedOption interface{ padded(*paddedConfig) }

type paddedConfig struct {
	collateConfig
	fields   fieldNames
	dims     []int
	to       int
	multiple int
	longest  int
	value    float64
	values   map[string]float64
	lengths  bool
	mask     bool
}

type paddedOption func(*paddedConfig)

func (f paddedOption) padded(c *paddedConfig) { f(c) }

// WithPadDims sets the dimensions that are padded; default 0, the first. Each is from 0
// to [MaxRank]−2 and given once.
func WithPadDims(dims ...int) PaddedOption {
	return paddedOption(func(c *paddedConfig) { c.dims = slices.Clone(dims) })
}

// WithPadTo sets the length that padded dimensions have in every batch; default 0,
// the longest of the batch, range 0 to 2³¹−1. A longer item is an error about that
// item, unless [WithTruncate] cuts it.
func WithPadTo(n int) PaddedOption {
	return paddedOption(func(c *paddedConfig) { c.to = n })
}

// WithMultipleOf rounds the length of padded dimensions up to a multiple of n; default
// 1, range 1 to 2³¹−1. It does not go together with [WithPadTo].
func WithMultipleOf(n int) PaddedOption {
	return paddedOption(func(c *paddedConfig) { c.multiple = n })
}

// WithTruncate cuts padded dimensions to their first n before they are padded;
// default 0, no cut, range 0 to 2³¹−1. The lengths are those after the cut.
func WithTruncate(n int) PaddedOption {
	return paddedOption(func(c *paddedConfig) { c.longest = n })
}

// WithPadValue sets what is padded with: default 0, false or the empty string. It holds
// for the fields that are named, or for all that have no value of their own where
// none is. Floats take the nearest value; for other types v must be one of their
// values exactly, so integers beyond 2⁵³ cannot all be given. Strings are
// always padded with the empty string.
func WithPadValue(v float64, fields ...string) PaddedOption {
	return paddedOption(func(c *paddedConfig) {
		if len(fields) == 0 {
			c.value = v
		}
		for _, name := range fields {
			c.values[name] = v
		}
	})
}

// WithLengths says whether each padded field gets a field of lengths; default true.
func WithLengths(v bool) PaddedOption {
	return paddedOption(func(c *paddedConfig) { c.lengths = v })
}

// WithMask says whether each padded field gets a mask; default false.
func WithMask(v bool) PaddedOption {
	return paddedOption(func(c *paddedConfig) { c.mask = v })
}

func (c *paddedConfig) validate() error {
	if err := c.collateConfig.validate(); err != nil {
		return err
	}
	if err := c.fields.validate(); err != nil {
		return err
	}
	if len(c.dims) == 0 {
		return fmt.Errorf("%w: WithPadDims names no dimension", ErrOption)
	}
	for i, d := range c.dims {
		if d < 0 || d > MaxRank-2 || slices.Contains(c.dims[:i], d) {
			return fmt.Errorf("%w: WithPadDims(%v): %d is not from 0 to %d, or comes twice", ErrOption, c.dims, d, MaxRank-2)
		}
	}
	for _, o := range []struct {
		name  string
		v, lo int
	}{
		{"WithPadTo", c.to, 0},
		{"WithMultipleOf", c.multiple, 1},
		{"WithTruncate", c.longest, 0},
	} {
		if o.v < o.lo || o.v > math.MaxInt32 {
			return fmt.Errorf("%w: %s(%d) is not from %d to %d", ErrOption, o.name, o.v, o.lo, math.MaxInt32)
		}
	}
	if c.to > 0 && c.multiple > 1 {
		return fmt.Errorf("%w: WithPadTo(%d) and WithMultipleOf(%d): give one of them", ErrOption, c.to, c.multiple)
	}
	if c.to > 0 && c.longest > c.to {
		return fmt.Errorf("%w: WithTruncate(%d) leaves more than WithPadTo(%d) has room for", ErrOption, c.longest, c.to)
	}
	for name := range c.values {
		if c.fields != nil && !c.fields[name] {
			return fmt.Errorf("%w: WithPadValue names the field %q, WithFields does not", ErrOption, name)
		}
	}
	return nil
}

// PaddedCollate returns a collate for fields whose lengths differ from sample to
// sample: they are padded to the longest and stacked. Of N samples it makes up to
// three fields of each such field, with L the padded length:
//
//	name         [N L d1 d2 …]
//	name_length  i64[N]: how much of each item is not padding; see [WithLengths]
//	name_mask    bool[N L]: true for what is not padding; see [WithMask]
//
// By default the first dimension of all fields that have one is padded; see
// [WithFields] and [WithPadDims]. With D > 1 padded dimensions lengths are [N D] and the
// mask is [N L1 L2 …], in the order that the dimensions were given in. The other
// fields are stacked. Types, numbers of dimensions and the dimensions that are not padded must
// be the same, and the rest is as for [DefaultCollate]. The error is [ErrOption].
//
// The errors of the collate wrap [ErrCollate].
func PaddedCollate(opts ...PaddedOption) (CollateFunc, error) {
	c := &paddedConfig{
		collateConfig: collateConfig{defaultMaxFieldBytes},
		dims:          []int{0},
		multiple:      1,
		values:        map[string]float64{},
		lengths:       true,
	}
	for _, o := range opts {
		if o == nil {
			return nil, fmt.Errorf("%w: nil", ErrOption)
		}
		o.padded(c)
	}
	if err := c.validate(); err != nil {
		return nil, err
	}
	return c.collate, nil
}

func (c *paddedConfig) free(name string, rank int) uint32 {
	if !c.fields.holds(name, rank, slices.Max(c.dims)) {
		return 0
	}
	var mask uint32
	for _, d := range c.dims {
		mask |= 1 << d
	}
	return mask
}

func (c *paddedConfig) collate(batch []Sample) (Sample, error) {
	s, err := newSchema(batch, c.free, true)
	if err != nil {
		return Sample{}, err
	}
	if err := c.fields.check(batch[0], slices.Max(c.dims)); err != nil {
		return Sample{}, err
	}
	fields := make([]Field, 0, 3*len(batch[0].fields))
	for j, f := range batch[0].fields {
		if c.free(f.Name, f.Tensor.Rank()) == 0 {
			t, err := s.stack(j, c.maxBytes)
			if err != nil {
				return Sample{}, fieldError(f.Name, err)
			}
			fields = append(fields, Field{f.Name, t})
			continue
		}
		p := padding{schema: &s, config: c, j: j}
		if err := p.measure(f.Name); err != nil {
			return Sample{}, err
		}
		t, err := p.values(f.Name)
		if err != nil {
			return Sample{}, fieldError(f.Name, err)
		}
		fields = append(fields, Field{f.Name, t})
		if c.lengths {
			fields = append(fields, Field{f.Name + "_length", p.lengthTensor()})
		}
		if c.mask {
			m, err := p.mask()
			if err != nil {
				return Sample{}, fieldError(f.Name+"_mask", err)
			}
			fields = append(fields, Field{f.Name + "_mask", m})
		}
	}
	return s.newBatch(fields)
}

// padding is the padding of one field of a batch.
type padding struct {
	schema  *schema
	config  *paddedConfig
	j       int
	padded  []int   // the length of each padded dimension in the batch
	lengths []int64 // of the padded dimensions of each item, after the cut: [N D]
}

// measure finds the lengths.
func (p *padding) measure(name string) error {
	c := p.config
	n, d := len(p.schema.batch), len(c.dims)
	p.padded, p.lengths = make([]int, d), make([]int64, 0, n*d)
	for i := range n {
		shape := p.schema.at(i, p.j).shape()
		for k, dim := range c.dims {
			length := shape[dim]
			if c.longest > 0 {
				length = min(length, c.longest)
			}
			if c.to > 0 && length > c.to {
				return &pipeline.ItemError{Item: i, Err: fmt.Errorf("%w: field %q is %s, longer than WithPadTo(%d) in dimension %d; filter, or use WithTruncate",
					ErrCollate, name, *p.schema.at(i, p.j), c.to, dim)}
			}
			p.padded[k] = max(p.padded[k], length)
			p.lengths = append(p.lengths, int64(length))
		}
	}
	for k, length := range p.padded {
		if c.to > 0 {
			p.padded[k] = c.to
			continue
		}
		if more := length % c.multiple; more > 0 {
			if length > math.MaxInt-c.multiple {
				return fieldError(name, fmt.Errorf("%w: %d cannot be rounded up to a multiple of %d", ErrShape, length, c.multiple))
			}
			p.padded[k] += c.multiple - more
		}
	}
	return nil
}

// block returns the shape of what is left of an item after the cut, in the memory of
// buf.
func (p *padding) block(buf *[MaxRank]int, i int) []int {
	shape := append(buf[:0], p.schema.at(i, p.j).shape()...)
	d := len(p.config.dims)
	for k, dim := range p.config.dims {
		shape[dim] = int(p.lengths[i*d+k])
	}
	return shape
}

// values returns the items, padded.
func (p *padding) values(name string) (Tensor, error) {
	c, s := p.config, p.schema
	first := s.at(0, p.j)
	var buf [MaxRank + 1]int
	shape := append(append(buf[:0], len(s.batch)), first.shape()...)
	for k, dim := range c.dims {
		shape[1+dim] = p.padded[k]
	}
	t := Tensor{dtype: first.dtype}
	if err := t.setShape(shape); err != nil {
		return Tensor{}, err
	}
	if err := t.checkSize(c.maxBytes); err != nil {
		return Tensor{}, err
	}
	if t.dtype == Strings {
		if err := p.strings(&t); err != nil {
			return Tensor{}, err
		}
		return t, nil
	}
	v, ok := c.values[name]
	if !ok {
		v = c.value
	}
	pad, err := padValue(t.dtype, v)
	if err != nil {
		return Tensor{}, err
	}
	dst, size := t.allocate(), t.dtype.Size()
	if pad != [8]byte{} {
		for done := copy(dst, pad[:size]); done < len(dst); {
			done += copy(dst[done:], dst[:done])
		}
	}
	item := t.n / len(s.batch) * size
	var block [MaxRank]int
	for i := range s.batch {
		src, to := s.at(i, p.j), dst[i*item:(i+1)*item]
		raw := src.raw()
		eachRun(shape[1:], src.shape(), p.block(&block, i), func(at, from, n int) {
			copy(to[at*size:(at+n)*size], raw[from*size:])
		})
	}
	return t, nil
}

// strings makes the padded strings those of t, whose shape is set.
func (p *padding) strings(t *Tensor) error {
	s := p.schema
	empty, err := stringtensor.FromStrings([]string{""})
	if err != nil {
		return err
	}
	all, err := s.concat(p.j, empty)
	if err != nil {
		return err
	}
	begin := make([]int, len(s.batch)+1) // the first row of each item
	for i := range s.batch {
		begin[i+1] = begin[i] + s.at(i, p.j).n
	}
	if all.Len() != begin[len(s.batch)]+1 {
		return errReleased(all.Len()-1, begin[len(s.batch)])
	}
	rows := make([]uint32, t.n)
	for k := range rows {
		rows[k] = uint32(all.Len() - 1)
	}
	item := t.n / len(s.batch)
	var block [MaxRank]int
	for i := range s.batch {
		to := rows[i*item : (i+1)*item]
		eachRun(t.shape()[1:], s.at(i, p.j).shape(), p.block(&block, i), func(at, from, n int) {
			for k := range n {
				to[at+k] = uint32(begin[i] + from + k)
			}
		})
	}
	column, err := all.Take(rows)
	if err != nil {
		return err
	}
	return t.setColumn(column)
}

func (p *padding) lengthTensor() Tensor {
	t := Vector(p.lengths)
	if d := len(p.padded); d > 1 {
		t.rank, t.dims = 2, [inlineRank]int{len(p.schema.batch), d}
	}
	return t
}

// mask returns which elements of the padded dimensions are not padding.
func (p *padding) mask() (Tensor, error) {
	t := Tensor{dtype: Bool}
	shape := append([]int{len(p.schema.batch)}, p.padded...)
	if err := t.setShape(shape); err != nil {
		return Tensor{}, err
	}
	if err := t.checkSize(p.config.maxBytes); err != nil {
		return Tensor{}, err
	}
	dst := t.allocate()
	item, d := t.n/len(p.schema.batch), len(p.padded)
	lengths := make([]int, d)
	for i := range p.schema.batch {
		for k := range lengths {
			lengths[k] = int(p.lengths[i*d+k])
		}
		to := dst[i*item : (i+1)*item]
		eachRun(p.padded, lengths, lengths, func(at, _, n int) {
			for k := range n {
				to[at+k] = 1
			}
		})
	}
	return t, nil
}

// eachRun calls f for each run of elements of a block that lies at the beginning of
// two arrays: where the run begins in each of them, and how long it is. All three are
// shapes of one rank, and the block is within both.
func eachRun(to, from, block []int, f func(to, from, n int)) {
	// All dimensions behind the last one that differs make up one run.
	last := len(to) - 1
	run := 1
	for last >= 0 && to[last] == block[last] && from[last] == block[last] {
		run *= to[last]
		last--
	}
	var count, at, stepTo, stepFrom [MaxRank]int // of the dimensions before last
	if last >= 0 {
		nextTo, nextFrom := run*to[last], run*from[last]
		run *= block[last]
		for k := last - 1; k >= 0; k-- {
			count[k], stepTo[k], stepFrom[k] = block[k], nextTo, nextFrom
			nextTo, nextFrom = nextTo*to[k], nextFrom*from[k]
			if count[k] == 0 {
				return
			}
		}
	}
	if run == 0 {
		return
	}
	offTo, offFrom := 0, 0
	for {
		f(offTo, offFrom, run)
		k := last - 1
		for ; k >= 0; k-- {
			at[k]++
			offTo += stepTo[k]
			offFrom += stepFrom[k]
			if at[k] < count[k] {
				break
			}
			offTo -= count[k] * stepTo[k]
			offFrom -= count[k] * stepFrom[k]
			at[k] = 0
		}
		if k < 0 {
			return
		}
	}
}
