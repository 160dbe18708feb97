package sample

import (
	"fmt"
	"maps"
	"slices"
	"unsafe"

	"github.com/rosaline-go/rosaline/stringtensor"
)

// CollateFunc makes one sample of a batch of them, which it may keep. It may be
// called by several goroutines at once.
type CollateFunc = func(batch []Sample) (Sample, error)

// defaultMaxFieldBytes is the largest field of a batch unless told otherwise.
const defaultMaxFieldBytes = 1 << 30

// DefaultOption is an option of [NewDefaultCollate].
type DefaultOption interface{ stacked(*collateConfig) }

// CollateOption is an option of every collate.
type CollateOption interface {
	DefaultOption
	PaddedOption
	RaggedOption
}

type collateConfig struct{ maxBytes int64 }

func (c collateConfig) validate() error {
	if c.maxBytes < 1 {
		return fmt.Errorf("%w: WithMaxFieldBytes(%d) is not at least 1", ErrOption, c.maxBytes)
	}
	return nil
}

// fieldNames are the fields that a collate treats in its own way; none stands for
// every field that has the dimensions for it.
type fieldNames map[string]bool

func (n fieldNames) validate() error {
	if n != nil && len(n) == 0 {
		return fmt.Errorf("%w: WithFields names no field", ErrOption)
	}
	return nil
}

// holds reports whether a field is treated in that way, for which it needs more than
// dim dimensions.
func (n fieldNames) holds(name string, rank, dim int) bool {
	if n == nil {
		return rank > dim
	}
	return n[name]
}

// check checks that the first sample of a batch has all the fields that were named,
// with more than dim dimensions each.
func (n fieldNames) check(first Sample, dim int) error {
	found := 0
	for _, f := range first.fields {
		if !n[f.Name] {
			continue
		}
		found++
		if f.Tensor.Rank() <= dim {
			return fmt.Errorf("%w: field %q is %s, which has no dimension %d; leave it out of WithFields", ErrCollate, f.Name, f.Tensor, dim)
		}
	}
	if found == len(n) {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(n)) {
		if first.find(name) < 0 {
			return fmt.Errorf("%w: there is no field %q, which WithFields names", ErrCollate, name)
		}
	}
	return nil
}

// FieldsOption is an option of [PaddedCollate] and of [RaggedCollate].
type FieldsOption interface {
	PaddedOption
	RaggedOption
}

type fieldsOption []string

// WithFields names the fields that are padded, or kept ragged; default every field
// that has the dimensions for it. The others are stacked as by [DefaultCollate]. A
// batch without one of these fields is an error.
func WithFields(names ...string) FieldsOption { return fieldsOption(names) }

func (o fieldsOption) set() fieldNames {
	n := make(fieldNames, len(o))
	for _, name := range o {
		n[name] = true
	}
	return n
}

func (o fieldsOption) padded(c *paddedConfig) { c.fields = o.set() }
func (o fieldsOption) ragged(c *raggedConfig) { c.fields = o.set() }

type maxFieldBytes int64

// WithMaxFieldBytes sets the largest size in bytes of one field of a batch; default
// 1 GiB, range 1 and up. A string counts with the 16 bytes of its view, its payload is
// not copied. What would be larger is an error, before any memory is taken.
func WithMaxFieldBytes(n int64) CollateOption { return maxFieldBytes(n) }

func (n maxFieldBytes) stacked(c *collateConfig) { c.maxBytes = int64(n) }
func (n maxFieldBytes) padded(c *paddedConfig)   { c.maxBytes = int64(n) }
func (n maxFieldBytes) ragged(c *raggedConfig)   { c.maxBytes = int64(n) }

// DefaultCollate stacks samples: each field of the batch has the items' tensors one
// after the other, with a new first dimension of their number. All samples must
// have the same fields, whatever their order, with the same types and shapes. The
// batch has the order of the first sample, and all metadata as [Sample.Metas].
//
// It copies the data, of strings the views only, and makes one allocation a field
// and two more. The errors wrap [ErrCollate]. Where a sample does not fit the error
// is a pipeline.ItemError that names the first
// which differs from what most have.
func DefaultCollate(batch []Sample) (Sample, error) {
	return stack(batch, defaultMaxFieldBytes)
}

// NewDefaultCollate returns [DefaultCollate] with other limits. The error is
// [ErrOption].
func NewDefaultCollate(opts ...DefaultOption) (CollateFunc, error) {
	c := collateConfig{maxBytes: defaultMaxFieldBytes}
	for _, o := range opts {
		if o == nil {
			return nil, fmt.Errorf("%w: nil", ErrOption)
		}
		o.stacked(&c)
	}
	if err := c.validate(); err != nil {
		return nil, err
	}
	return func(batch []Sample) (Sample, error) { return stack(batch, c.maxBytes) }, nil
}

func stack(batch []Sample, maxBytes int64) (Sample, error) {
	s, err := newSchema(batch, nil, true)
	if err != nil {
		return Sample{}, err
	}
	fields := make([]Field, len(batch[0].fields))
	for j := range fields {
		name := batch[0].fields[j].Name
		t, err := s.stack(j, maxBytes)
		if err != nil {
			return Sample{}, fieldError(name, err)
		}
		fields[j] = Field{name, t}
	}
	return Sample{fields: fields, metas: s.metas()}, nil
}

// newBatch returns the batch of fields, of which some have names that were made up.
func (s *schema) newBatch(fields []Field) (Sample, error) {
	if !hasDuplicate(fields) {
		return Sample{fields: fields, metas: s.metas()}, nil
	}
	seen := make(map[string]bool, len(fields))
	for _, f := range fields {
		if seen[f.Name] {
			return Sample{}, fmt.Errorf("%w: the name %q is needed twice; rename that field", ErrCollate, f.Name)
		}
		seen[f.Name] = true
	}
	return Sample{}, fmt.Errorf("%w: a name is needed twice", ErrCollate)
}

func fieldError(name string, err error) error {
	return fmt.Errorf("%w: field %q: %w", ErrCollate, name, err)
}

// stack stacks field j, whose tensors are alike.
func (s *schema) stack(j int, maxBytes int64) (Tensor, error) {
	first := s.at(0, j)
	var buf [MaxRank + 1]int
	t := Tensor{dtype: first.dtype}
	if err := t.setShape(append(append(buf[:0], len(s.batch)), first.shape()...)); err != nil {
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

// checkSize checks that t, whose shape is set, is not larger than it may be.
func (t *Tensor) checkSize(maxBytes int64) error {
	if size := int64(t.n) * int64(t.dtype.span()); size > maxBytes {
		return fmt.Errorf("%w: %s takes %d bytes, the limit is %d; make smaller batches, or raise WithMaxFieldBytes", ErrShape, *t, size, maxBytes)
	}
	return nil
}

// fill makes the data of field j, one item after the other, those of t, whose shape
// is set to hold them.
func (s *schema) fill(t *Tensor, j int) error {
	if t.dtype == Strings {
		column, err := s.concat(j)
		if err != nil {
			return err
		}
		return t.setColumn(column)
	}
	dst := t.allocate()
	for i := range s.batch {
		dst = dst[copy(dst, s.at(i, j).raw()):]
	}
	return nil
}

// setColumn makes column the data of t, whose shape is set.
func (t *Tensor) setColumn(column *stringtensor.Column) error {
	// Anyone may have released a column in the meantime.
	if column.Len() != t.n {
		return errReleased(column.Len(), t.n)
	}
	t.data = unsafe.Pointer(column)
	return nil
}

func errReleased(rows, n int) error {
	return fmt.Errorf("%w: %d strings where there were %d; release a column only when no tensor over it is used any more", ErrShape, rows, n)
}

// concat returns the strings of field j of all items, and then those of more.
func (s *schema) concat(j int, more ...*stringtensor.Column) (*stringtensor.Column, error) {
	columns := make([]*stringtensor.Column, len(s.batch), len(s.batch)+len(more))
	for i := range columns {
		columns[i] = s.at(i, j).column()
	}
	return stringtensor.Concat(append(columns, more...)...)
}
