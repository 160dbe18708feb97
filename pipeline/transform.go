package pipeline

import (
	"context"
	"encoding/json"
)

// Transform makes none, one or many elements of one. Apply is called by several
// workers at once. What it emits before an error is dropped.
type Transform[T, U any] interface {
	// Apply must return soon after ctx is done. emit is for the goroutine that called
	// Apply, until Apply returns. An error marked by [Fatal] ends the stream under every policy.
	Apply(ctx context.Context, v T, emit func(U)) error
}

// TransformFunc is a function as a [Transform].
type TransformFunc[T, U any] func(ctx context.Context, v T, emit func(U)) error

// Apply calls f.
func (f TransformFunc[T, U]) Apply(ctx context.Context, v T, emit func(U)) error {
	return f(ctx, v, emit)
}

// StatefulTransform makes elements of elements and remembers. It sees the
// elements of one epoch in the order of the stream, in one goroutine at a time,
// and is made anew for each epoch.
type StatefulTransform[T, U any] interface {
	// Push takes the next element. emit may be called until Push returns. After an
	// error under [Skip] the element counts as not pushed, and what was emitted for it is
	// dropped. An error marked by [Fatal] ends the stream under every policy.
	Push(ctx context.Context, v T, emit func(U)) error
	// Finish is called once after the last element of the epoch.
	Finish(ctx context.Context, emit func(U)) error
}

// EpochStarter is a stateful transform that depends on the number of its epoch.
type EpochStarter interface {
	// StartEpoch is called once, before Restore and the first Push, with the epoch from 0.
	StartEpoch(epoch int64)
}

// Resumable is a stateful transform whose memory can be saved. Without it a resumed
// pipeline pushes the epoch again from its beginning, and drops what has been
// delivered.
type Resumable interface {
	// Snapshot returns the memory as a value that becomes JSON. It is called
	// between calls of Push, once a chunk; the value must not change afterwards.
	Snapshot() (any, error)
	// Restore takes back what Snapshot returned. It is called before the first
	// Push.
	Restore(snapshot json.RawMessage) error
}
