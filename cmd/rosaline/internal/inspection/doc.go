// Package inspection says what an Arrow or Parquet file holds, and whether it is sound.
//
// All of a file is read, and nothing is written. Every record batch of Arrow is decoded
// and each of its arrays validated: offsets, views, UTF-8, indices of dictionaries. Every
// page of Parquet is decompressed and decoded, and the rows and values are counted against
// what the footer says. Any file is safe to inspect: what is hostile in it becomes a fault,
// and memory is bounded by one batch of at most 1 GiB, or a page of at most 256 MiB.
package inspection
