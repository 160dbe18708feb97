// Package sample holds the usual element of a training pipeline: named tensors
// with the place they came from, and how many of them become a batch.
//
//	Sample ──┬── "x" ── Tensor f32[16]     data ──▸ 64 bytes, shared
//	         ├── "y" ── Tensor i64[1]      data ──▸ 8 bytes, shared
//	         └── Meta   source, index, padded
//
//	Tensor, one cache line where int has 64 bits
//	┌──────┬──────────┬───────┬──────┬─────────────────┬────────────────────┐
//	│ data │ elements │ dtype │ rank │ 4 dimensions    │ more, up to 32     │
//	│ 8 B  │ 8 B      │ 1 B   │ 1 B  │ 32 B            │ 8 B, mostly nil    │
//	└──────┴──────────┴───────┴──────┴─────────────────┴────────────────────┘
//
// A [Tensor] is a type, a shape and data. It checks that they fit, never changes, and
// shares its data with whatever is made of it: [NewTensor] takes a slice and
// [View] gives it back without a copy. Data are little endian; this package does
// not build for other machines. Strings are a column of package stringtensor.
//
// A [Sample] goes through the stages of a pipeline by value. That allocates
// nothing; to make one of any number of fields is one allocation besides the data.
// What seems to change a sample returns another.
//
// # Batches
//
// A collate is a func([]Sample) (Sample, error). Three are here; each keeps the
// metadata of all items in [Sample.Metas]:
//
//	items        f32[3 2]  f32[1 2]  f32[2 2]
//
//	Default      all must have one shape
//	Padded       x f32[3 3 2]        item, row, column; zeros where there was nothing
//	             x_length i64[3]     3 1 2
//	Ragged       x f32[6 2]          the rows of all
//	             x_offsets u32[4]    0 3 4 6
//
// A sample that does not fit is named by a pipeline.ItemError, so that a pipeline that
// skips errors leaves out that one alone. Which one is odd is decided by most of
// the batch.
package sample
