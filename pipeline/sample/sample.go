package sample

import (
	"fmt"
	"iter"
	"slices"

	"github.com/rosaline-go/rosaline/pipeline"
)

var (
	_ pipeline.Sizer                 = Sample{}
	_ pipeline.PadMarker[Sample]     = Sample{}
	_ pipeline.Collatable[Sample]    = Sample{}
	_ func([]Sample) (Sample, error) = CollateFunc(nil)
)

// Field is a tensor and its name.
type Field struct {
	Name   string
	Tensor Tensor
}

// Meta says where a sample came from.
type Meta struct {
	Source string // what it was read from, such as a path
	Index  int64  // its number there, from 0
	Padded bool   // it only fills up a shard, see [pipeline.Pad]
}

// Sample is an ordered list of named tensors and their metadata. It is immutable: what
// changes a sample returns a new one, which shares the data. A Sample is a small
// value whose copies share everything. The zero value has no fields.
type Sample struct {
	fields []Field
	meta   Meta
	metas  []Meta
}

// few is up to how many fields a scan is faster than a map.
const few = 16

// New returns the sample of the fields in their order. Of several with one name the
// last one's tensor stands at the first one's place. It makes one allocation, and
// takes O(F) time for F fields.
func New(fields ...Field) Sample {
	out := make([]Field, len(fields))
	copy(out, fields)
	if hasDuplicate(out) {
		out = unique(out)
	}
	return Sample{fields: out}
}

// hasDuplicate reports whether two fields have the same name.
func hasDuplicate(fields []Field) bool {
	if len(fields) > few {
		seen := make(map[string]struct{}, len(fields))
		for i := range fields {
			seen[fields[i].Name] = struct{}{}
		}
		return len(seen) < len(fields)
	}
	for i := range fields {
		for j := range i {
			if fields[i].Name == fields[j].Name {
				return true
			}
		}
	}
	return false
}

// unique moves the last tensor of each name to the first place of that name.
func unique(fields []Field) []Field {
	place := make(map[string]int, len(fields))
	out := fields[:0]
	for _, f := range fields {
		if i, ok := place[f.Name]; ok {
			out[i] = f
			continue
		}
		place[f.Name] = len(out)
		out = append(out, f)
	}
	return slices.Clip(out)
}

// Len returns the number of fields.
func (s Sample) Len() int { return len(s.fields) }

// Get returns the tensor of that name. It looks at one field after the other.
func (s Sample) Get(name string) (Tensor, bool) {
	if i := s.find(name); i >= 0 {
		return s.fields[i].Tensor, true
	}
	return Tensor{}, false
}

func (s *Sample) find(name string) int {
	for i := range s.fields {
		if s.fields[i].Name == name {
			return i
		}
	}
	return -1
}

// Field returns field i, from 0. It panics when there is none such, as indexing a
// slice does.
func (s Sample) Field(i int) Field { return s.fields[i] }

// All yields the names and tensors in their order.
func (s Sample) All() iter.Seq2[string, Tensor] {
	return func(yield func(string, Tensor) bool) {
		for i := range s.fields {
			if !yield(s.fields[i].Name, s.fields[i].Tensor) {
				return
			}
		}
	}
}

// With returns the sample with t under that name: at its place where there is such
// a field, else at the end. It copies the list of fields, so to set many use [New].
func (s Sample) With(name string, t Tensor) Sample {
	i := s.find(name)
	if i < 0 {
		i = len(s.fields)
	}
	fields := make([]Field, max(i+1, len(s.fields)))
	copy(fields, s.fields)
	fields[i] = Field{name, t}
	s.fields = fields
	return s
}

// Without returns the sample without the field of that name, s itself where there
// is none. It copies the list of fields.
func (s Sample) Without(name string) Sample {
	i := s.find(name)
	if i < 0 {
		return s
	}
	s.fields = append(append(make([]Field, 0, len(s.fields)-1), s.fields[:i]...), s.fields[i+1:]...)
	return s
}

// Meta returns the metadata of the sample; of a batch they are zero unless set.
func (s Sample) Meta() Meta { return s.meta }

// WithMeta returns the sample with other metadata. It allocates nothing.
func (s Sample) WithMeta(m Meta) Sample {
	s.meta = m
	return s
}

// Metas returns the metadata of each item of a batch in their order; nil for a sample
// that is no batch. An item that was a batch gave those of its items. The slice must
// not be changed.
func (s Sample) Metas() []Meta { return s.metas }

// Size returns the bytes of all tensors, by [Tensor.Size].
func (s Sample) Size() int64 {
	var n int64
	for i := range s.fields {
		n += s.fields[i].Tensor.Size()
	}
	return n
}

// AsPadding returns the sample marked as padding in [Meta.Padded], a batch also
// in those of its items.
func (s Sample) AsPadding() Sample {
	s.meta.Padded = true
	s.metas = slices.Clone(s.metas)
	for i := range s.metas {
		s.metas[i].Padded = true
	}
	return s
}

// CollateBatch is [DefaultCollate].
func (Sample) CollateBatch(batch []Sample) (Sample, error) { return DefaultCollate(batch) }

// Equal reports whether s and t have the same fields in the same order, by
// [Tensor.Equal], and the same metadata.
func (s Sample) Equal(t Sample) bool {
	return s.meta == t.meta && slices.Equal(s.metas, t.metas) && slices.EqualFunc(s.fields, t.fields, func(f, g Field) bool {
		return f.Name == g.Name && f.Tensor.Equal(g.Tensor)
	})
}

// Rows returns the number of items of a batch: the first dimension of all its fields, or
// the number of metadata where it has no fields. The error is [ErrShape] where fields
// differ or have no dimensions.
func (s Sample) Rows() (int, error) {
	if len(s.fields) == 0 {
		return len(s.metas), nil
	}
	rows := -1
	for i := range s.fields {
		f := &s.fields[i]
		if f.Tensor.rank == 0 {
			return 0, fmt.Errorf("%w: field %q is %s, which has no rows", ErrShape, f.Name, f.Tensor)
		}
		n := f.Tensor.shape()[0]
		if rows >= 0 && n != rows {
			return 0, fmt.Errorf("%w: field %q has %d rows, %q has %d", ErrShape, s.fields[0].Name, rows, f.Name, n)
		}
		rows = n
	}
	return rows, nil
}

// Item returns item i of a batch of [DefaultCollate], from 0: row i of each field, with
// its metadata. The data are shared. The error is [ErrShape].
func (s Sample) Item(i int) (Sample, error) {
	rows, err := s.Rows()
	if err != nil {
		return Sample{}, err
	}
	if i < 0 || i >= rows {
		return Sample{}, fmt.Errorf("%w: item %d of a batch of %d", ErrShape, i, rows)
	}
	out := Sample{fields: make([]Field, len(s.fields))}
	for j := range s.fields {
		t, err := s.fields[j].Tensor.Row(i)
		if err != nil {
			return Sample{}, fmt.Errorf("field %q: %w", s.fields[j].Name, err)
		}
		out.fields[j] = Field{s.fields[j].Name, t}
	}
	switch per := len(s.metas) / rows; {
	case len(s.metas) != per*rows:
	case per == 1:
		out.meta = s.metas[i]
	case per > 1:
		out.metas = s.metas[i*per : (i+1)*per : (i+1)*per]
	}
	return out, nil
}

// String returns the names with type and shape of each, such as
// "{x: f32[16], y: i64[1]}".
func (s Sample) String() string {
	b := []byte{'{'}
	for i := range s.fields {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(append(append(b, s.fields[i].Name...), ": "...), s.fields[i].Tensor.String()...)
	}
	return string(append(b, '}'))
}
