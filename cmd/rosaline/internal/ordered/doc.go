// Package ordered runs work on a stream of items on many cores and keeps the
// order of the stream.
//
//	          ┌─▸ worker: Scan ─┐             ┌─▸ worker: Emit ─┐
//	Next ──▸──┼─▸ worker: Scan ─┼──▸ Resolve ─┼─▸ worker: Emit ─┼──▸ Write
//	one       └─▸ worker: Scan ─┘    one, in  └─▸ worker: Emit ─┘    one, in
//	goroutine                        order                           order
//
// What Write sees is the same for any number of workers: items in the order of
// Next, each after Scan, Resolve and Emit, up to the first that failed.
//
// A fixed set of slots goes round. Next waits for a free one and Write frees it,
// so the number of items in flight is bounded, no send waits for room, and
// nothing polls.
package ordered
