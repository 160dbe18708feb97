// Package stringtensor holds columns of strings as 16-byte views.
//
// A [Column] is an immutable list of rows. A row is a string or null (null is
// not the empty string). Each row has one [StringView16]; strings of up to 12
// bytes live inside their view, longer ones in a shared [Buffer]. Slicing,
// taking and filtering move views and never touch payload.
//
//	StringView16, 16 bytes, little endian, bit for bit an Arrow Utf8View
//	┌─────────┬───────────────────────────────────────────────────┐
//	│ 0…3     │ 4…7            8…11              12…15             │
//	│ len u32 │ len ≤ 12: the bytes, padded with zeros             │
//	│         │ len > 12: first 4 B │ buffer i32 │ offset i32      │
//	└─────────┴───────────────────────────────────────────────────┘
//
//	Column
//	views     ┌──16 B──┬──16 B──┬──16 B──┬ …   one per row, zero for a null row
//	buffers   [0] payload bytes   [1] payload bytes  …   each ≤ 2³¹−1 bytes, shared
//	validity  one bit per row, least significant first, 1 = valid; absent = all valid
//
// The padding of an inline view is always zero, so two inline strings are equal
// exactly when their 16 bytes are. The view of a null row is all zero, so code
// that reads views without looking at validity sees an empty string.
//
// Filters answer with a [Selection], the numbers of the rows that match:
// [Column.WherePrefix] and its like, combined by And, Or and Not, then applied by
// [Column.Filter]. They read length and prefix, which are one word of the view,
// before any payload. Null rows match nothing. What a derived column shares, it
// keeps alive: [Column.RetainedBytes] says how much, [Column.Compact] copies the
// part in use.
//
// A device takes another layout, made by [Column.GPUBuffers]: N+1 offsets
// (uint32, the first is 0) and the payload of all rows end to end (uint8).
//
// # Ownership
//
// Columns over Go memory are freed by the garbage collector and
// [Column.Release] does nothing on them. A column that borrows memory (from
// an Arrow array, say) keeps it alive until Release; every column derived from
// it has a claim of its own and is released on its own. After Release a column
// has no rows, and strings and byte slices taken from it must not be used.
//
// Columns may be read by any number of goroutines at once. Builders belong to
// one goroutine.
package stringtensor
