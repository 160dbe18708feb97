package rosa

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/rosaline-go/rosaline/internal/hugepages"
)

// ErrOverlap is returned when memory for results overlaps other memory of the call.
var ErrOverlap = errors.New("rosa: results overlap")

// ErrQuery is returned when the tokens whose results are asked for are not some of the tokens.
var ErrQuery = errors.New("rosa: no such queries")

// CandidateRows are the candidates of tokens, a row each. Of each of the first four there are
// [Candidates.Slots] a row: slot s of row i is at i·slots+s. The candidates of a row are its
// first Count[i] slots, in order; the others hold −1, 0, −1 and 0.
type CandidateRows struct {
	Source    []int64 // position of the last token of an occurrence
	Length    []int64 // of the match
	State     []int64 // number of the suffix in the automaton
	Frequency []int64 // number of its earlier occurrences
	Count     []int32 // candidates
}

// NewCandidateRows returns n rows of so many slots, all zero; none if either is negative.
func NewCandidateRows(n, slots int) CandidateRows {
	n, slots = max(n, 0), max(slots, 0)
	r := CandidateRows{
		Source: make([]int64, n*slots), Length: make([]int64, n*slots),
		State: make([]int64, n*slots), Frequency: make([]int64, n*slots), Count: make([]int32, n),
	}
	for _, column := range [][]int64{r.Source, r.Length, r.State, r.Frequency} {
		if 8*len(column) >= 2*hugepages.Size {
			hugepages.Prefer(column) // a third of the time of many rows is their first touch
		}
	}
	return r
}

// newRowsOf is NewCandidateRows, or ErrLength if no machine has the memory.
func newRowsOf(n, slots int) (CandidateRows, error) {
	const most = min(math.MaxInt/64, 1<<34)
	if n > most/slots {
		return CandidateRows{}, fmt.Errorf("%w: %d rows of %d slots are more than memory takes; ask for fewer at a time",
			ErrLength, n, slots)
	}
	return NewCandidateRows(n, slots), nil
}

// Row returns row i, which shares memory. It panics, as a slice does, if there is none.
func (r *CandidateRows) Row(i int) CandidateRows {
	slots := len(r.Source) / len(r.Count)
	from, to := i*slots, (i+1)*slots
	return CandidateRows{
		Source: r.Source[from:to:to], Length: r.Length[from:to:to],
		State: r.State[from:to:to], Frequency: r.Frequency[from:to:to], Count: r.Count[i : i+1 : i+1],
	}
}

func (r *CandidateRows) bytes() int { return 32*len(r.Source) + 4*len(r.Count) }

// names of the memory of rows, in the order in which it is checked.
var rowNames = [...]string{"Source", "Length", "State", "Frequency", "Count"}

// check returns an error if these are not n rows of so many slots in memory apart, from each
// other and from what is read.
func (r *CandidateRows) check(n, slots int, read ...[]int64) error {
	if r == nil {
		return fmt.Errorf("%w: no rows for results; make them by NewCandidateRows", ErrLength)
	}
	lengths := [...]int{len(r.Source), len(r.Length), len(r.State), len(r.Frequency)}
	over, want := bits.Mul64(uint64(n), uint64(slots))
	for i, length := range lengths {
		if over != 0 || uint64(length) != want {
			return fmt.Errorf("%w: %s has %d, not %d rows of %d slots", ErrLength, rowNames[i], length, n, slots)
		}
	}
	if len(r.Count) != n {
		return fmt.Errorf("%w: Count has %d, not %d", ErrLength, len(r.Count), n)
	}
	spans := r.spans()
	for i := range spans {
		for j := range i {
			if spans[i].overlaps(spans[j]) {
				return fmt.Errorf("%w: %s and %s; give each memory of its own", ErrOverlap, rowNames[j], rowNames[i])
			}
		}
	}
	for _, in := range read {
		for i := range spans {
			if spans[i].overlaps(spanOf(in)) {
				return fmt.Errorf("%w: %s and what is read; give each memory of its own", ErrOverlap, rowNames[i])
			}
		}
	}
	return nil
}

// span is where memory begins and ends. None is at 0 to 0.
type span struct{ from, to uintptr }

func spanOf[T int32 | int64](s []T) span {
	if len(s) == 0 {
		return span{}
	}
	from := uintptr(unsafe.Pointer(unsafe.SliceData(s)))
	return span{from, from + uintptr(len(s))*unsafe.Sizeof(s[0])}
}

// spans are those of the memory of rows.
func (r *CandidateRows) spans() [5]span {
	if r == nil {
		return [5]span{}
	}
	return [...]span{spanOf(r.Source), spanOf(r.Length), spanOf(r.State), spanOf(r.Frequency), spanOf(r.Count)}
}

// overlaps reports whether a byte is in both.
func (s span) overlaps(t span) bool { return s.from < t.to && t.from < s.to }

// queryOrder returns the indices of queries about n tokens, in the order of the tokens.
func queryOrder(queries []int64, n int) ([]int, error) {
	if len(queries) == 0 {
		return nil, fmt.Errorf("%w: there is none; use Prefill, or ask for one", ErrQuery)
	}
	order := make([]int, len(queries))
	for i, q := range queries {
		if q < 0 || q >= int64(n) {
			return nil, fmt.Errorf("%w: query %d is %d, not from 0 to %d", ErrQuery, i, q, n-1)
		}
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(queries[i], queries[j]), cmp.Compare(i, j))
	})
	for i := 1; i < len(order); i++ {
		if q := queries[order[i]]; q == queries[order[i-1]] {
			return nil, fmt.Errorf("%w: query %d is %d, as query %d is; ask once", ErrQuery, order[i], q, order[i-1])
		}
	}
	return order, nil
}
