package pipeline

import (
	"context"
	"encoding/json"
)

// Source is a data set that can be gone through any number of times, once an
// epoch. Open may be called by several pipelines at once; a cursor belongs to
// one goroutine.
type Source[T any] interface {
	// Open returns a cursor at a place of the data set. It must return soon after
	// ctx is done; ctx lives as long as the cursor. An error ends the stream
	// under every [Policy].
	Open(ctx context.Context, at Start) (Cursor[T], error)
}

// Start says where a data set is opened.
type Start struct {
	Epoch int64  // how often it has been gone through before, from 0
	Seed  uint64 // of the pipeline; random choices are functions of Seed and Epoch
	// Position is what [Positioner] told in another cursor of the same epoch, as
	// JSON; nil is the beginning.
	Position json.RawMessage
}

// Cursor goes through a data set.
type Cursor[T any] interface {
	// Next returns the next element, io.EOF after the last. It must return soon
	// after ctx is done. Any other error is about one element, which is left out
	// under [Skip]; the cursor goes on behind it. An error marked by [Fatal], that
	// of ctx, or a panic ends the stream under every policy.
	Next(ctx context.Context) (T, error)
	// Close frees what the cursor holds. It is called once, after the last Next.
	Close() error
}

// BulkCursor is a cursor that gives many elements at once where they are at hand: for
// elements of little work most of what they cost is to be asked for. Under
// [Pipeline.PrefetchBytes] and [Pipeline.Shard] they are taken one by one.
type BulkCursor[T any] interface {
	Cursor[T]
	// NextBulk is Next for up to len(dst) elements, at least one: it fills dst from the
	// beginning with those that come without waiting, and returns how many. If it returns
	// an error there are none, and the error is that of Next.
	NextBulk(ctx context.Context, dst []T) (int, error)
}

// Positioner is a cursor that can be opened where it stands. Without it a resumed
// pipeline reads the epoch from its beginning and drops what has been delivered.
type Positioner interface {
	// Position tells where the cursor stands, before the element that Next returns
	// next. The value becomes [Start.Position] by encoding/json; it must be small,
	// and must not change afterwards. It is called before the first Next and then
	// once a chunk.
	Position() any
}

// Describer is a source that says which data set it is. A state is refused by a
// pipeline whose source says something else.
type Describer interface {
	// Describe returns the kind of the source and what its elements depend on, on
	// one line: names of files, not their contents.
	Describe() string
}

// FileSharder is a source that can be split by file, so that no rank reads the
// files of another. See [Pipeline.ShardFiles].
type FileSharder[T any] interface {
	Source[T]
	// ShardFiles returns the source of the files that rank of world has.
	ShardFiles(rank, world int) (Source[T], error)
}

// Counter is a source that can tell how many elements an epoch has, perhaps by
// reading them. Elements that cannot be read do not count.
type Counter interface {
	Count(ctx context.Context) (int64, error)
}

// AsyncSource is a source that pushes its elements, from whatever goroutines it
// has.
type AsyncSource[T any] interface {
	// Run pushes the elements of an epoch into sink, in their order, and returns nil
	// after the last. It must return soon after ctx is done, and leave no goroutine.
	// Its error ends the stream. at.Position is nil: a resumed pipeline drops what
	// has been delivered.
	Run(ctx context.Context, at Start, sink Sink[T]) error
}

// Sink takes the elements of an [AsyncSource]. Its methods may be called by several
// goroutines; the elements have the order in which the calls return.
type Sink[T any] interface {
	// Push hands an element on. It blocks while the pipeline is full, and returns
	// the error of ctx once that is done. It also fails once nothing more of the epoch is
	// wanted, whatever ctx is: Run must return then.
	Push(ctx context.Context, v T) error
	// Fail says that an element could not be had. Under [Skip] the element is left
	// out and Fail returns nil; else Run must return.
	Fail(ctx context.Context, err error) error
}

// Named is a source or transform that has a name for errors, statistics and
// traces. Without it they have that of its type; see [Pipeline.Named] for other
// stages.
type Named interface{ Name() string }

// Sizer is an element that knows its size in bytes. []byte and string are known
// without it; see [Pipeline.SizeOf].
type Sizer interface{ Size() int64 }

// PadMarker is an element that can be marked as padding: a copy of it that says
// so. See [Pad].
type PadMarker[T any] interface{ AsPadding() T }

// Collatable is an element with a collate function of its own, used by
// [Pipeline.Batch] where [Pipeline.Collate] gives no other. It is called on the
// zero value.
type Collatable[T any] interface {
	// CollateBatch makes one element of many; batch is not empty, and is the
	// callee's to keep. If it fails the elements must be as they were. See [ItemError] for saying which element does not fit.
	CollateBatch(batch []T) (T, error)
}
