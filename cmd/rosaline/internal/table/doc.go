// Package table writes rows as Arrow and Parquet.
//
//	batches of any size ──▸ Rows ──▸ Schema.Align ──▸ Writer ──▸ groups of fixed size ──▸ bytes
//	     (workers)                     (one goroutine, in order)      (Parquet: encoders)
//
// A table has the columns that every table of rosaline has, id and text and perhaps
// tokens and padded, and behind them the metadata columns of the inputs. Where a group
// of rows ends, a record batch of Arrow or a row group of Parquet, depends on the rows
// alone: the bytes do not depend on how the rows were cut into batches.
package table
