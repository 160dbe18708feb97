package main

import (
	"math/bits"

	"github.com/rosaline-go/rosaline/rosa"
	"github.com/rosaline-go/rosaline/rosa/abi1"
)

// filled returns an array of a shape that holds v everywhere.
func filled[T int32 | int64 | uint8](v T, shape ...int) abi1.Array[T] {
	n := 1
	for _, size := range shape {
		n *= size
	}
	a := abi1.Array[T]{Data: make([]T, n), Shape: shape}
	if v != 0 {
		for i := range a.Data {
			a.Data[i] = v
		}
	}
	return a
}

// automaton returns the arrays of an empty automaton for a row of n tokens, of the sizes that
// the other system gives them.
func automaton(n int) abi1.Automaton {
	states, edges := 2*n+1, 4*n+1
	slots := 1 << bits.Len(uint(2*edges-1))
	return abi1.Automaton{
		Version: abi1.Version, BatchSize: 1, MaxLength: n, Position: new(int64),
		History:   filled[int64](0, 1, n),
		Head:      filled[int32](-1, 1, states),
		EdgeToken: filled[int64](0, 1, edges), EdgeTarget: filled[int32](0, 1, edges), EdgeNext: filled[int32](0, 1, edges),
		HashState: filled[int32](-1, 1, slots), HashToken: filled[int64](0, 1, slots), HashEdge: filled[int32](0, 1, slots),
		SuffixLink: filled[int32](-1, 1, states), Length: filled[int32](0, 1, states),
		LCTLeft: filled[int32](-1, 1, states), LCTRight: filled[int32](-1, 1, states),
		LCTParent: filled[int32](-1, 1, states), LCTStack: filled[int32](0, 1, states),
		Last: filled[int32](0, 1), Size: filled[int32](1, 1), EdgeCount: filled[int32](0, 1),
	}
}

// bind returns a state that lies in arrays of its own, for all tokens.
func (j *job) bind() (*abi1.State, error) {
	a := &abi1.Arrays{Automaton: automaton(len(j.tokens))}
	states := a.Head.Shape[1]
	a.LCTValue, a.LCTLazy = filled[int64](-1, 1, states), filled[int64](0, 1, states)
	a.LCTLazyValid = filled[uint8](0, 1, states)
	return abi1.Bind(a)
}

// bindCandidates is bind with candidates.
func (j *job) bindCandidates() (*abi1.CandidateState, error) {
	a := &abi1.CandidateArrays{Automaton: automaton(len(j.tokens)), SuffixK: j.k, OccurrencesR: j.r}
	states := a.Head.Shape[1]
	a.Positions = filled[int64](0, 1)
	a.Occurrences, a.LazyPrefix = filled[int64](-1, 1, states, j.r), filled[int64](-1, 1, states, j.r)
	a.OccurrenceSize, a.LazySize = filled[int32](0, 1, states), filled[int32](0, 1, states)
	a.Frequency, a.LazyDelta = filled[int64](0, 1, states), filled[int64](0, 1, states)
	return abi1.BindCandidates(a)
}

func (j *job) abi1Step() (*result, error) {
	next := make([]int64, len(j.tokens))
	r, err := j.repeat(func() (func() error, error) {
		s, err := j.bind()
		return func() error {
			for i := range j.tokens {
				if err := s.Step(next[i:i+1], j.tokens[i:i+1]); err != nil {
					return err
				}
			}
			return nil
		}, err
	})
	return j.finish(r, err, next)
}

func (j *job) abi1CandidatesStep() (*result, error) {
	row := usedRows(1, j.k*j.r)
	r, err := j.repeat(func() (func() error, error) {
		s, err := j.bindCandidates()
		return func() error {
			for i := range j.tokens {
				if err := s.Step(&row, j.tokens[i:i+1]); err != nil {
					return err
				}
			}
			return nil
		}, err
	})
	if err != nil || !j.check {
		return r, err
	}
	s, err := j.bindCandidates()
	if err != nil {
		return nil, err
	}
	all := rosa.NewCandidateRows(len(j.tokens), j.k*j.r)
	for i := range j.tokens {
		row := all.Row(i)
		if err := s.Step(&row, j.tokens[i:i+1]); err != nil {
			return nil, err
		}
	}
	return j.finish(r, nil, all.Source, all.Length, all.State, all.Frequency, all.Count)
}
