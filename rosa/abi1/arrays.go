package abi1

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"unsafe"
)

// Version is the version of the interface.
const Version = 1

// Automaton is the arrays that all states have; see the package's comment.
type Automaton struct {
	Version              int
	BatchSize, MaxLength int

	Position  *int64       // of all rows, in uniform states
	Positions Array[int64] // of each row, in ragged states

	History                      Array[int64]
	Head                         Array[int32]
	EdgeToken                    Array[int64]
	EdgeTarget, EdgeNext         Array[int32]
	HashState                    Array[int32]
	HashToken                    Array[int64]
	HashEdge                     Array[int32]
	SuffixLink, Length           Array[int32]
	LCTLeft, LCTRight, LCTParent Array[int32]
	LCTStack                     Array[int32]
	Last, Size, EdgeCount        Array[int32]
}

// Arrays is the arrays of a [State]. It is ragged if there are positions.
type Arrays struct {
	Automaton
	LCTValue, LCTLazy Array[int64]
	LCTLazyValid      Array[uint8]
}

// CandidateArrays is the arrays of a [CandidateState]. Positions may be given in uniform
// states too, and are all the same then.
type CandidateArrays struct {
	Automaton
	SuffixK, OccurrencesR   int
	Ragged                  bool
	Occurrences, LazyPrefix Array[int64]
	OccurrenceSize          Array[int32]
	LazySize                Array[int32]
	Frequency, LazyDelta    Array[int64]
}

// arrays returns the arrays that all states have and the shapes they must have.
func (a *Automaton) arrays() []named {
	b, n := a.BatchSize, a.MaxLength
	states, edges, slots := []int{b, a.Head.width()}, []int{b, a.EdgeToken.width()}, []int{b, a.HashState.width()}
	rows := []int{b}
	return []named{
		{"history", &a.History, []int{b, n}},
		{"head", &a.Head, states},
		{"edge_token", &a.EdgeToken, edges}, {"edge_target", &a.EdgeTarget, edges}, {"edge_next", &a.EdgeNext, edges},
		{"hash_state", &a.HashState, slots}, {"hash_token", &a.HashToken, slots}, {"hash_edge", &a.HashEdge, slots},
		{"suffix_link", &a.SuffixLink, states}, {"length", &a.Length, states},
		{"lct_left", &a.LCTLeft, states}, {"lct_right", &a.LCTRight, states}, {"lct_parent", &a.LCTParent, states},
		{"lct_stack", &a.LCTStack, states},
		{"last", &a.Last, rows}, {"size", &a.Size, rows}, {"edge_count", &a.EdgeCount, rows},
	}
}

func (a *Arrays) arrays() []named {
	states := []int{a.BatchSize, a.Head.width()}
	return append(a.Automaton.arrays(),
		named{"lct_value", &a.LCTValue, states}, named{"lct_lazy", &a.LCTLazy, states},
		named{"lct_lazy_valid", &a.LCTLazyValid, states})
}

func (a *CandidateArrays) arrays() []named {
	states := []int{a.BatchSize, a.Head.width()}
	lists := append(slices.Clone(states), a.OccurrencesR)
	return append(a.Automaton.arrays(),
		named{"occurrences", &a.Occurrences, lists}, named{"lazy_prefix", &a.LazyPrefix, lists},
		named{"occurrence_size", &a.OccurrenceSize, states}, named{"lazy_size", &a.LazySize, states},
		named{"frequency", &a.Frequency, states}, named{"lazy_delta", &a.LazyDelta, states})
}

// check checks everything that can be told of arrays without a look at what they hold, and
// returns their memory.
func (a *Automaton) check(arrays []named, ragged bool) ([]span, error) {
	if a.Version != Version {
		return nil, fmt.Errorf("%w: %d, this is %d", ErrVersion, a.Version, Version)
	}
	if a.Positions.Data != nil {
		arrays = append(arrays, named{"positions", &a.Positions, []int{a.BatchSize}})
	} else if ragged {
		return nil, fmt.Errorf("%w: positions", ErrMissing)
	}
	if a.Position == nil && !ragged {
		return nil, fmt.Errorf("%w: position", ErrMissing)
	}
	for _, array := range arrays {
		if err := array.array.given(array.name); err != nil {
			return nil, err
		}
	}
	if a.BatchSize < 1 || a.MaxLength < 1 {
		return nil, fmt.Errorf("%w: batch_size %d, max_length %d; both are at least 1", ErrLayout, a.BatchSize, a.MaxLength)
	}
	spans := make([]span, 0, len(arrays)+1)
	for _, array := range arrays {
		if err := array.array.laidOut(array.name, array.shape...); err != nil {
			return nil, err
		}
		spans = append(spans, array.array.span(array.name))
	}
	if !ragged {
		spans = append(spans, spanOf("position", unsafe.Slice(a.Position, 1)))
	}
	n, states, edges, slots := int64(a.MaxLength), int64(a.Head.width()), int64(a.EdgeToken.width()), int64(a.HashState.width())
	switch {
	case states < 2*n+1, edges < 4*n+1, slots < 2*(4*n+1):
		return nil, fmt.Errorf("%w: %d states, %d edges, %d hash slots are too few for %d tokens; they must be %d, %d, %d at least",
			ErrLayout, states, edges, slots, n, 2*n+1, 4*n+1, 2*(4*n+1))
	case bits.OnesCount64(uint64(slots)) != 1:
		return nil, fmt.Errorf("%w: hash capacity must be a power of two, not %d", ErrLayout, slots)
	case max(states, edges, slots) > math.MaxInt32:
		return nil, fmt.Errorf("%w: %d states, %d edges, %d hash slots; int32 cannot number them", ErrLayout, states, edges, slots)
	}
	return spans, apart(spans)
}
