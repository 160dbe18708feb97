package abi1

import (
	"errors"
	"fmt"
	"slices"
	"unsafe"
)

var (
	// ErrVersion is returned when arrays are of another version of the interface.
	ErrVersion = errors.New("abi1: unsupported version")

	// ErrMissing is returned when an array is not given.
	ErrMissing = errors.New("abi1: array is missing")

	// ErrReadOnly is returned when an array cannot be written to.
	ErrReadOnly = errors.New("abi1: array is read-only")

	// ErrLayout is returned when an array has another shape than the state needs, or is not
	// C-contiguous.
	ErrLayout = errors.New("abi1: incompatible layout")

	// ErrOverlap is returned when memory is given for two things.
	ErrOverlap = errors.New("abi1: arrays overlap")

	// ErrCounters is returned when last, size, edge_count or a position are not those of
	// any automaton.
	ErrCounters = errors.New("abi1: incompatible counters")

	// ErrUnsound is returned when arrays do not hold an automaton with its link-cut tree.
	ErrUnsound = errors.New("abi1: arrays hold no automaton")
)

// Array is an array of the caller. Its type is that of its elements.
type Array[T int32 | int64 | uint8] struct {
	Data     []T
	Shape    []int
	Strides  []int // in elements; nil if it is C-contiguous
	ReadOnly bool
}

// given checks that there is an array to write to.
func (a *Array[T]) given(name string) error {
	switch {
	case a.Data == nil:
		return fmt.Errorf("%w: %s", ErrMissing, name)
	case a.ReadOnly:
		return fmt.Errorf("%w: %s; make it writable", ErrReadOnly, name)
	}
	return nil
}

// laidOut checks that an array has a shape and is C-contiguous.
func (a *Array[T]) laidOut(name string, shape ...int) error {
	if !slices.Equal(a.Shape, shape) {
		return fmt.Errorf("%w: %s has shape %v, not %v", ErrLayout, name, a.Shape, shape)
	}
	n := 1
	for i := len(shape) - 1; i >= 0; i-- {
		if a.Strides != nil && (len(a.Strides) != len(shape) || shape[i] > 1 && a.Strides[i] != n) {
			return fmt.Errorf("%w: %s has strides %v; it must be C-contiguous", ErrLayout, name, a.Strides)
		}
		if shape[i] < 0 || shape[i] > 0 && n > len(a.Data)/shape[i] {
			return fmt.Errorf("%w: %s of shape %v has %d elements", ErrLayout, name, shape, len(a.Data))
		}
		n *= shape[i]
	}
	if n != len(a.Data) {
		return fmt.Errorf("%w: %s of shape %v has %d elements", ErrLayout, name, shape, len(a.Data))
	}
	return nil
}

// width returns the size of an array in its second dimension, −1 if it has none.
func (a *Array[T]) width() int {
	if len(a.Shape) < 2 {
		return -1
	}
	return a.Shape[1]
}

// row returns a row of an array with a first dimension of so many.
func (a *Array[T]) row(i, rows int) []T {
	n := len(a.Data) / rows
	return a.Data[i*n : (i+1)*n : (i+1)*n]
}

// named is an array whatever its elements.
type named struct {
	name  string
	array interface {
		given(name string) error
		laidOut(name string, shape ...int) error
		span(name string) span
	}
	shape []int
}

// span is memory, from one address to before another.
type span struct {
	name     string
	from, to uintptr
}

func (a *Array[T]) span(name string) span { return spanOf(name, a.Data) }

func spanOf[T any](name string, data []T) span {
	from := uintptr(unsafe.Pointer(unsafe.SliceData(data)))
	return span{name, from, from + uintptr(len(data))*unsafe.Sizeof(*new(T))}
}

// overlaps reports whether two pieces of memory overlap; empty ones do not.
func (s span) overlaps(t span) bool { return max(s.from, t.from) < min(s.to, t.to) }

// apart checks that no two pieces of memory overlap; empty ones do not. It sorts them.
func apart(spans []span) error {
	slices.SortFunc(spans, func(a, b span) int {
		if a.from < b.from {
			return -1
		}
		return 1
	})
	var last span
	for _, s := range spans {
		if s.from == s.to {
			continue
		}
		if s.from < last.to {
			return fmt.Errorf("%w: %s and %s", ErrOverlap, last.name, s.name)
		}
		last = s
	}
	return nil
}
