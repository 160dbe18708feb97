// Package source holds where records come from: files, folders, globs and
// streams of JSONL, text, CSV, Arrow, Parquet and WARC, plain or compressed.
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
//
// # Inputs
//
// [Expand] makes inputs of files, folders, patterns and "-". The extension says
// what a file holds: .jsonl, .ndjson and .json one JSON value a line, .txt one
// record a line, .csv and .tsv rows, .arrow, .arrows, .feather and .ipc Arrow IPC,
// .warc and .wet records of WARC, each also with .gz or .zst; and .parquet. Gzip and
// zstd are recognised by their first bytes, under any name and on standard input. All
// gzip members and zstd frames are read; skippable frames, and zeros after the last
// gzip member, are passed over.
//
// # Lines
//
// LF or CR LF ends a line; the last line of an input needs no end. Every line
// counts for line numbers. Three kinds of line give no record, and each is
// counted in [Stats]: blank ones, those over the cap ([WithMaxLine]), which are
// passed over without being kept, and those that cannot be decoded. The last two
// become a [BadRecord] each. How lines fall into chunks has no influence on
// records, ids and places.
//
// # Tables
//
// [Chunks] reads inputs of all formats, in their order; a [Reader] those of lines only.
// Of a [Table] the rows are lines, and the columns at the keys of the [Decoder] are text
// and id:
//
//	inputs ──▸ Chunks ──▸ Chunk ──▸ Decoder ──▸ Records
//	           where rows   a Block   cells, pages, UTF-8;
//	           lie          of rows   Text, ID and Meta
//
// WARC has the columns id, text, uri, date and content_type; records of a kind that has
// no text are passed over and counted in [Stats]. A row that is no record becomes a
// [BadRecord] like a line; a file that is cut off or corrupt ends the stream behind the
// rows before. [WithMaxBlock] bounds what a file can claim.
//
// [WithMetadata] carries other columns along in [Records.Meta], with their types, or members
// of JSONL as strings; [WithColumnsOf] spares reading what no one wants. Parquet is read
// by the package parquet beside this one, which registers itself ([RegisterTable]), so
// that whoever does without does not carry its library:
//
//	import _ "github.com/rosaline-go/rosaline/pipeline/source/parquet"
//
// [Fields] finds values in lines of JSON by their paths, for those who want no records.
//
// # Places and shards
//
// [Reader.Position] is a place between two chunks, small enough to be saved, and
// [WithPosition] opens another reader there, which seeks and does not read again
// what lies before:
//
//	plain   ───────────────────────────▸│ the line
//	gzip    ────────────▸│ member ·····▸│ the line
//	zstd    ────────────▸│ frame ······▸│ the line
//	pipes   ····························▸│ the line      ─▸ sought  ·▸ read and passed over
//
// What follows is as if reading had never stopped. [WithShard] gives a rank its
// lines out of all inputs, [ShardInputs] its inputs. For a pipeline, [Lines] is the
// Reader as a source of chunks, [JSONL] of single records, and [ArrowColumns] gives the
// batches of Arrow files; all three can be resumed at their places.
//
// # Sources of a pipeline
//
// Each of these is a [pipeline.Source] that can be opened where it stood:
//
//	Memory, Generate      a list; a function of the index
//	Glob, ImageFolder     files, read by workers: ReadFile, ReadImage
//	CSV                   rows, with their text
//	Ring, RingOf          a few elements, again and again
//	DistributedSampler    a rank's part of a list, shuffled as a whole
//	Mix, Interleave       several sources, by weight or by turns
//
// A list of files is made when the source is, sorted by path: it is the same in all
// epochs and on all ranks that see the same files. What is inside Mix, Interleave
// and RingOf need not tell positions: it is read again by count.
//
// # Damage
//
// A compressed input that is cut off or corrupt gives every line that was whole
// before that place, then an error that wraps [ErrTruncated] or [ErrCorrupt], as
// does any file that becomes shorter while it is read. The
// line that was being read is not delivered as if it were whole; the error says
// how long it was. A cut in a plain input from before it was opened cannot be seen:
// its last line is taken for one without an end, and in JSONL mostly fails as bad_json.
package source
