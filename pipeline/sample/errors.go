package sample

import "errors"

var (
	// ErrShape is returned when a shape has a negative dimension, more than
	// [MaxRank] of them, describes more than memory can hold, or does not fit the
	// data; and when a place is not in a shape.
	ErrShape = errors.New("sample: wrong shape")

	// ErrDType is returned when a tensor has another type than the call needs, and
	// when bytes are no values of the type.
	ErrDType = errors.New("sample: wrong dtype")

	// ErrCollate is returned when samples do not make a batch. Where one of them is at
	// fault the error is a pipeline.ItemError.
	ErrCollate = errors.New("sample: collate")

	// ErrOffsetOverflow is returned, wrapped together with [ErrCollate], when a ragged
	// field has more rows than its offsets can count; make smaller batches.
	ErrOffsetOverflow = errors.New("sample: offset overflow")

	// ErrOption is returned when an option is out of its range or contradicts
	// another; the error names it.
	ErrOption = errors.New("sample: invalid option")
)
