// Package jsonl writes JSON objects, one a line, by appending to byte slices. It
// writes what encoding/json writes, without reflection and without allocating.
package jsonl
