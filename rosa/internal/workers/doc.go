// Package workers runs one operation on each of many rows, on goroutines that stay.
//
//	Rows ── Pool ┬─ lane 0   the caller's goroutine     rows 0 … n/threads
//	             ├─ lane 1   a goroutine of its own     the next as many
//	             └─ …
//
// A lane takes its own rows first, run after run the same, so that what they hold stays in
// the caches of one core, and then those that are left to others. An operation ends when
// all rows are done, whether or not a late goroutine had any of them.
package workers
