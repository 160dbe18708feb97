// Package pipeline is the engine: it moves the elements of a data set through stages
// on many workers to one consumer, in order, bounded, and resumable.
//
//	source ──▸ chunks ──▸ stages ──▸ chunks ──▸ Iterator ──▸ consumer
//
// It is generic over the element: a sample of named tensors, a column of strings,
// whatever a user has. A [Pipeline] is a plan; [Pipeline.Start] runs it.
//
// # Layout of a run
//
//	┌ station ─────────┐  ┌ queue ─────────┐  ┌ station ┐  ┌ queue ──┐
//	│ feeder: the      │  │ in order       │  │ stages  │  │ stages  │
//	│ source; stages   ├─▸│ stages that    ├─▸│ that run├─▸│ on the  ├─▸ Iterator
//	│ that run in order│  │ run on workers │  │ in order│  │ workers │
//	└──────────────────┘  └───────┬▲───────┘  └─────────┘  └────┬▲───┘
//	                              ▼│                            ▼│
//	                       ┌──────────────── workers ───────────────┐
//
// A station is one goroutine. Map, Filter, FlatMap, transforms and collating run on
// the workers; Shuffle, Batch, Take, Skip, Cache, stateful transforms run in order, in
// a station. A stage runs where it is written. Elements travel in chunks. A chunk
// takes its place in a queue before a worker has it, so order costs nothing: whoever
// takes from the queue waits for the oldest chunk.
//
// # What holds
//
//   - The order is that of the source, for any number of workers. Random choices are functions of
//     (seed, epoch, shard) and a count; see [Pipeline.Seed], [Pipeline.MapRand].
//   - Under [Fail] everything before the first error in the order of the stream is
//     delivered, then the error, for ever. Under [Skip] the element alone is left out, counted in
//     [Stats] and given to [Pipeline.ErrorSink].
//   - What is between the source and the consumer is bounded, see [Pipeline.Prefetch];
//     the source waits, nothing polls.
//   - A panic in a function of the user is an error with its stack.
//   - After the end, [Iterator.Close], a cancelled context or a lost iterator no
//     goroutine is left, as soon as functions of the user have returned.
//   - [Iterator.State] is what the consumer has received; [Pipeline.Resume] yields exactly
//     the rest.
//
// # States
//
// A state is the chain of places from the consumer back to the source:
//
//	place of the consumer ─▸ mark of the last stage that runs in order
//	                         its counts ─▸ place of its input ─▸ … ─▸ mark of the source
//	                                                                 epoch, position, count
//
// Each chunk carries the mark of the stage that made it. A stage that holds elements
// back, like a shuffle buffer, has the place of the oldest one: resumed, it is given
// its input again from there on and knows from its counts which elements it held. So a state
// holds no elements, and what is read again is bounded by what stages hold.
package pipeline
