// Package resume keeps what a run has done on disk, so that it goes on where it stood after any
// stop: a signal, a crash, a loss of power, a full disk.
//
// A [ResumablePipeline] is a pipeline with a folder. What its consumer was given and has
// committed comes never again, all else does, as if it had never come:
//
//	source ──▸ stages, Deduplicate ──▸ prefetch ──▸ Next ──▸ consumer ──▸ Output
//	                                                          │ Commit       │
//	                                           1 the outputs are synced ◂────┘
//	                                           2 Log.Append:          hashes, states
//	                                           3 StateTracker.Commit: it counts
//
//	DIR/config        what the output depends on, as JSON
//	DIR/tracker       how far the run is
//	DIR/tracker.lock  held by the one writer
//	DIR/log           which texts came before, and the state of the pipeline
//
// What is read ahead is in no commit, nor are its hashes. An [Output] is cut back to what its
// commit says when it is opened.
//
// The [StateTracker] and the [Log] can be had without a pipeline. A commit goes through them in
// one order, and counts when the slot of the tracker is on the disk:
//
//	Log.Append(generation, hashes, state) ──sync──▸ StateTracker.Commit(state) ──sync──▸ committed
//
// What stops in between leaves frames of a generation that was not committed. They are dropped
// when the log is opened, so that a batch that comes again is not taken for its own duplicate.
// Each generation has its frame, be it empty, so a log that does not fit its tracker is seen.
//
// # The tracker
//
// Two slots of 64 bytes, each in a block of 4096 of its own, so that no write can harm both. All
// numbers are little endian.
//
//	     0          slot A          64    zero   4096        slot B        4160    zero   8192
//	     ├───────────────────────────┼────────────┼─────────────────────────┼──────────────┤
//
//	slot ┌────────┬─────────┬────────┬────────┬────────────┬───────┐
//	   0 │ "RSLT" │ version │ hashes │ config │ generation │ batch │
//	     │ 4      │ u16     │ u48    │ u32    │ u64        │ u64   │
//	     ├────────┼─────────┼────────┴─────┬──┴────────┬───┴───────┤
//	  32 │ byte   │ row     │ shard        │ row group │ page      │ CRC-32C of
//	     │ offset │ u64     │ u32          │ u32       │ u32       │ bytes 0 to 59
//	     └────────┴─────────┴──────────────┴───────────┴───────────┘ u32
//
//	offset  0 magic   4 version   6 hashes   12 config   16 generation   24 batch
//	       32 byte offset   40 row   48 shard   52 row group   56 page   60 CRC-32C
//
// The sound slot of the higher generation counts, and a commit writes the other one. A new file
// has generation 0 in A and 1 in B, both the beginning. Every version keeps magic, version and
// checksum at their places.
//
// # The log
//
// A header of 16 bytes, then frames that are only ever appended:
//
//	       ┌────────┬─────────┬──────┬──────┬─────────┐
//	header │ "RSDL" │ version │ hash │ zero │ CRC-32C │ hash 1: XXH3-128, seed 0
//	       │ 4      │ u16     │ u16  │ u32  │ u32     │
//	       └────────┴─────────┴──────┴──────┴─────────┘
//	       ┌────────┬─────────┬──────┬────────────┬────────┬───────┬─────────┬─────────┬─────────┐
//	frame  │ "RSDF" │ version │ zero │ generation │ before │ count │ length  │ CRC of  │ CRC of  │
//	       │        │         │      │            │        │       │of state │ payload │ 0 to 35 │
//	       │ 4      │ u16     │ u16  │ u64        │ u64    │ u32   │ u32     │ u32     │ u32     │
//	       ├────────┴─────────┴──────┴────────────┴────────┴───────┴─────────┴─────────┴─────────┤
//	       │ count hashes of 16 bytes, low half first                            │ state         │
//	       └─────────────────────────────────────────────────────────────────────┴───────────────┘
//
// Before is how many hashes the frames before hold, so that a frame that is gone is missed. The
// state is bytes of the caller, such as those of a pipeline's iterator: it is committed with
// the hashes and costs no sync of its own. A frame has at most 65536 hashes; an append of more
// makes several.
//
// After some appends the file is kept longer than its frames, by zeros: see [LogReport].
//
// A frame that is cut off or whose checksum fails is what a crash may leave if all that the
// tracker counts lies before it: it is cut away. If not, it is damage, and an error. Frames
// that have become many are joined by [Log.Compact], all but those of the last generation, so
// that the log goes with both slots of the tracker.
package resume
