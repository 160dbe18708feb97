package sample

import (
	"fmt"

	"github.com/rosaline-go/rosaline/pipeline"
)

// schema is a batch whose samples have the same fields, in the order of the first
// sample.
type schema struct {
	batch []Sample
	// order has, for each sample in another order, the place of every field of the
	// first sample; it is nil where all are in that of the first.
	order [][]int
}

// freeDims says which dimensions of a field may differ between the samples of a
// batch: bit i is dimension i. It depends on name and rank alone.
type freeDims func(name string, rank int) uint32

// newSchema checks that the samples go together: by fields, and by the number of
// items where sameMetas. The error is a [pipeline.ItemError] that names the first
// sample which differs from what most have, with the first field in which it does.
func newSchema(batch []Sample, free freeDims, sameMetas bool) (schema, error) {
	if len(batch) == 0 {
		return schema{}, fmt.Errorf("%w: an empty batch", ErrCollate)
	}
	s := schema{batch: batch}
	p := newPattern(batch[0], free)
	for i := range batch {
		fields := batch[i].fields
		fits := len(fields) == len(p.fields) && (!sameMetas || len(batch[i].metas) == len(batch[0].metas))
		inOrder := true
		for j := 0; fits && inOrder && j < len(fields); j++ {
			inOrder = fields[j].Name == p.fields[j].Name
			fits = !inOrder || p.fits(j, &fields[j].Tensor)
		}
		if fits && !inOrder {
			var order []int
			if order, fits = p.order(fields); fits {
				if s.order == nil {
					s.order = make([][]int, len(batch))
				}
				s.order[i] = order
			}
		}
		if !fits {
			return schema{}, misfit(batch, free, sameMetas)
		}
	}
	return s, nil
}

// pattern is the first sample of a batch, to which the others must be alike.
type pattern struct {
	fields []Field
	free   []uint32       // of each field; nil where no dimension may differ
	places map[string]int // of the fields, where there are many and it was needed
}

func newPattern(first Sample, free freeDims) pattern {
	p := pattern{fields: first.fields}
	if free == nil {
		return p
	}
	p.free = make([]uint32, len(p.fields))
	for j := range p.fields {
		p.free[j] = free(p.fields[j].Name, p.fields[j].Tensor.Rank())
	}
	return p
}

// fits reports whether t can stand for field j.
func (p *pattern) fits(j int, t *Tensor) bool {
	var free uint32
	if p.free != nil {
		free = p.free[j]
	}
	return t.dtype != Invalid && p.fields[j].Tensor.alike(t, free)
}

// order returns the place of each field of the pattern among as many fields, and
// whether all are there and fit.
func (p *pattern) order(fields []Field) ([]int, bool) {
	out := make([]int, len(fields))
	for k := range fields {
		// No name comes twice, so each place is set once.
		j := p.find(fields[k].Name)
		if j < 0 || !p.fits(j, &fields[k].Tensor) {
			return nil, false
		}
		out[j] = k
	}
	return out, true
}

func (p *pattern) find(name string) int {
	if len(p.fields) <= few {
		s := Sample{fields: p.fields}
		return s.find(name)
	}
	if p.places == nil {
		p.places = make(map[string]int, len(p.fields))
		for j := range p.fields {
			p.places[p.fields[j].Name] = j
		}
	}
	if j, ok := p.places[name]; ok {
		return j
	}
	return -1
}

// at returns the tensor of field j of the first sample in sample i.
func (s *schema) at(i, j int) *Tensor {
	if s.order != nil && s.order[i] != nil {
		j = s.order[i][j]
	}
	return &s.batch[i].fields[j].Tensor
}

// metas returns the metadata of all items.
func (s *schema) metas() []Meta {
	n := 0
	for i := range s.batch {
		n += max(len(s.batch[i].metas), 1)
	}
	out := make([]Meta, 0, n)
	for i := range s.batch {
		if m := s.batch[i].metas; len(m) > 0 {
			out = append(out, m...)
			continue
		}
		out = append(out, s.batch[i].meta)
	}
	return out
}

// trait is what samples must have in common in one field.
type trait struct {
	dtype DType
	rank  uint8
	dims  [MaxRank]int // the length of each dimension, or anyLength
}

const anyLength = -1

// absent is the trait of a sample that has no such field: there is no tensor of
// type Invalid that fits anything.
var absent trait

func traitOf(f *Field, free freeDims) trait {
	t := trait{dtype: f.Tensor.dtype, rank: f.Tensor.rank}
	copy(t.dims[:], f.Tensor.shape())
	if free != nil {
		mask := free(f.Name, f.Tensor.Rank())
		for i := range t.rank {
			if mask>>i&1 != 0 {
				t.dims[i] = anyLength
			}
		}
	}
	return t
}

func (t trait) String() string {
	if t.dtype == Invalid {
		return "missing"
	}
	b := []byte(t.dtype.String() + "[")
	for i, d := range t.dims[:t.rank] {
		if i > 0 {
			b = append(b, ' ')
		}
		if d == anyLength {
			b = append(b, '*')
			continue
		}
		b = fmt.Append(b, d)
	}
	return string(append(b, ']'))
}

// misfit says which sample does not fit and why. Each field is put to a vote, so
// that the odd one is named also where it is the first. It may be slow: it takes
// time linear in the fields of all samples, and allocates.
func misfit(batch []Sample, free freeDims, sameMetas bool) error {
	item := len(batch)
	var reason error
	blame := func(i int, format string, args ...any) {
		if i >= 0 && i < item {
			item, reason = i, fmt.Errorf("%w: "+format, append([]any{ErrCollate}, args...)...)
		}
	}
	if sameMetas {
		count := func(i int) int { return len(batch[i].metas) }
		i, most := minority(len(batch), count)
		if i >= 0 {
			blame(i, "it is a batch of %d items, most others are of %d", count(i), most)
		}
	}
	index := make([]map[string]int, len(batch))
	var names []string
	known := map[string]bool{}
	for i := range batch {
		index[i] = make(map[string]int, len(batch[i].fields))
		for j := range batch[i].fields {
			name := batch[i].fields[j].Name
			index[i][name] = j
			if !known[name] {
				known[name] = true
				names = append(names, name)
			}
		}
	}
	for _, name := range names {
		traits := make([]trait, len(batch))
		for i := range batch {
			if j, ok := index[i][name]; ok {
				f := &batch[i].fields[j]
				if f.Tensor.dtype == Invalid {
					blame(i, "field %q has no tensor", name)
					continue
				}
				traits[i] = traitOf(f, free)
			}
		}
		i, most := minority(len(batch), func(i int) trait { return traits[i] })
		switch {
		case i < 0:
		case traits[i] == absent:
			blame(i, "field %q is missing, most others have %v", name, most)
		case most == absent:
			blame(i, "field %q is %v, most others have no such field", name, traits[i])
		case traits[i].dtype == most.dtype && traits[i].rank == most.rank:
			blame(i, "field %q is %v, most others have %v; filter, crop, or use PaddedCollate or RaggedCollate", name, traits[i], most)
		default:
			blame(i, "field %q is %v, most others have %v", name, traits[i], most)
		}
	}
	if reason == nil {
		return fmt.Errorf("%w: the samples differ", ErrCollate)
	}
	return &pipeline.ItemError{Item: item, Err: reason}
}

// minority returns the first of n items whose key is not the most frequent one, or
// -1, and the most frequent key; of several that of the earliest item.
func minority[K comparable](n int, key func(i int) K) (item int, most K) {
	count := make(map[K]int)
	for i := range n {
		count[key(i)]++
	}
	best := 0
	for i := range n {
		if c := count[key(i)]; c > best {
			best, most = c, key(i)
		}
	}
	for i := range n {
		if key(i) != most {
			return i, most
		}
	}
	return -1, most
}
