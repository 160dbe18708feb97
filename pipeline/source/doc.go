// Package source holds where records come from: files, folders, globs and
// streams of JSONL or text, plain or compressed.
//
// Reading is cut in two so that the costly half runs on many cores:
//
//	inputs ──▸ Reader ──▸ Chunk ──▸ Decoder ──▸ Records
//	           one goroutine         any worker
//	           files, gzip, zstd,    JSON fields, escapes,
//	           lines, caps           UTF-8 policy, ids
//
// A [Reader] yields chunks of whole lines in the order of its sorted inputs, with
// the place of each line. A [Decoder] turns a chunk into a column of texts, a
// column of ids, and the lines that are not records, each with its place and
// reason. Memory is bounded by the chunk size and the cap on a line, whatever
// the input holds.
package source
