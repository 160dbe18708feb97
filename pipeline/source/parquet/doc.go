// Package parquet reads Parquet files as inputs of [source.Chunks]. It registers itself;
// a program that reads Parquet imports it for that:
//
//	import _ "github.com/rosaline-go/rosaline/pipeline/source/parquet"
//
// The reader is that of Apache Arrow for Go, which is why it is no part of package
// source: whoever reads other formats alone need not carry it.
//
//	footer ──▸ row groups of up to 16 MiB ──▸ a block each, decoded by workers
//	      └──▸ larger ones ────────────────▸ blocks of some rows, decoded one after the other
//
// Sizes are those of the columns that are wanted, decompressed, as the footer tells
// them, and of the values of dictionaries in full, which are counted by the pages. So memory is bounded by the number of workers, whatever the row groups are.
//
// A file must be one of which any part can be read: no pipe, and not compressed as a
// whole. Encrypted files are refused.
//
// Any input is safe to read. What is cut off, corrupt or hostile becomes an error that
// names the row group, behind the rows of those before; a page, or what one call
// takes, is held against [source.WithMaxBlock].
package parquet
