// Package inspection says what an Arrow or Parquet file holds, or the state of a run, and whether
// it is sound.
//
// All of a file is read, and nothing is written. Every record batch of Arrow is decoded
// and each of its arrays validated: offsets, views, UTF-8, indices of dictionaries. Every
// page of Parquet is decompressed and decoded, and the rows and values are counted against
// what the footer says. Any file is safe to inspect: what is hostile in it becomes a fault,
// and memory is bounded by one batch of at most 1 GiB, or a page of at most 256 MiB.
//
// Of the folder of a run, and of its files alone, all is read but the outputs: see package
// resume for what is in them and what is sound. A checkpoint of luminamoon and its dedup file
// are told of as well.
package inspection
