package main

import (
	"encoding/binary"
	"iter"
	"slices"

	"github.com/rosaline-go/rosaline/bench/text/internal/measure"
	"github.com/rosaline-go/rosaline/stringtensor"
)

// columnSpecs are the jobs on columns of strings.
func columnSpecs() []measure.Spec {
	return []measure.Spec{
		measure.NewSpec("from strings", "FromStrings", bindFromStrings),
		measure.NewSpec("from offsets", "FromOffsets", bindFromOffsets),
		measure.NewSpec("equal", "Equal", bindEqual),
		measure.NewSpec("prefix", "FilterByPrefix", bindPrefix),
		measure.NewSpec("prefix select", "WherePrefixInto", bindPrefixSelect),
		measure.NewSpec("memcpy", "append", bindMemcpy),
		measure.NewSpec("pack", "GPUBuffers", bindPack),
		measure.NewSpec("memcpy into", "copy", bindMemcpyInto),
		measure.NewSpec("pack into", "GPUBuffersInto", bindPackInto),
		measure.NewSpec("hash", "HashAllInto", bindHash),
	}
}

// ofColumn is work whose result is a column.
func ofColumn(do func() (*stringtensor.Column, error)) measure.Work {
	var c *stringtensor.Column
	return measure.Work{
		Run:  func() (err error) { c, err = do(); return err },
		Rows: func() (iter.Seq[[]byte], error) { return columnRows(c), nil },
	}
}

func columnRows(c *stringtensor.Column) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for i := range c.Len() {
			if !yield(c.Bytes(i)) {
				return
			}
		}
	}
}

func bindFromStrings(d *measure.Dataset) (measure.Work, error) {
	return ofColumn(func() (*stringtensor.Column, error) { return stringtensor.FromStrings(d.Rows) }), nil
}

func bindFromOffsets(d *measure.Dataset) (measure.Work, error) {
	return ofColumn(func() (*stringtensor.Column, error) {
		return stringtensor.FromOffsets(d.Offsets, d.Payload)
	}), nil
}

func bindEqual(d *measure.Dataset) (measure.Work, error) {
	a, err := stringtensor.FromStrings(d.Rows)
	if err != nil {
		return measure.Work{}, err
	}
	b, err := stringtensor.FromStrings(d.Rows)
	if err != nil {
		return measure.Work{}, err
	}
	same := false
	return measure.Work{
		Run: func() error { same = a.Equal(b); return nil },
		Rows: func() (iter.Seq[[]byte], error) {
			return slices.Values([][]byte{measure.Verdict(same)}), nil
		},
	}, nil
}

// prefixOf is what the prefix jobs look for: three bytes that some rows have.
func prefixOf(d *measure.Dataset) string { return d.Rows[5][:3] }

func bindPrefix(d *measure.Dataset) (measure.Work, error) {
	c, err := stringtensor.FromStrings(d.Rows)
	if err != nil {
		return measure.Work{}, err
	}
	prefix := prefixOf(d)
	return ofColumn(func() (*stringtensor.Column, error) { return c.FilterByPrefix(prefix), nil }), nil
}

func bindPrefixSelect(d *measure.Dataset) (measure.Work, error) {
	c, err := stringtensor.FromStrings(d.Rows)
	if err != nil {
		return measure.Work{}, err
	}
	prefix := prefixOf(d)
	var rows stringtensor.Selection
	return measure.Work{
		Run: func() error { rows = c.WherePrefixInto(rows, prefix); return nil },
		Rows: func() (iter.Seq[[]byte], error) {
			kept, err := c.Filter(rows)
			return columnRows(kept), err
		},
	}, nil
}

// ofBuffers is work whose result is offsets and payload.
func ofBuffers(do func() ([]uint32, []byte, error)) measure.Work {
	var offsets []uint32
	var payload []byte
	return measure.Work{
		Run: func() (err error) { offsets, payload, err = do(); return err },
		Rows: func() (iter.Seq[[]byte], error) {
			return func(yield func([]byte) bool) {
				for i := range len(offsets) - 1 {
					if !yield(payload[offsets[i]:offsets[i+1]]) {
						return
					}
				}
			}, nil
		},
	}
}

func bindPack(d *measure.Dataset) (measure.Work, error) {
	c, err := stringtensor.FromStrings(d.Rows)
	if err != nil {
		return measure.Work{}, err
	}
	return ofBuffers(func() ([]uint32, []byte, error) { return c.GPUBuffers() }), nil
}

func bindPackInto(d *measure.Dataset) (measure.Work, error) {
	c, err := stringtensor.FromStrings(d.Rows)
	if err != nil {
		return measure.Work{}, err
	}
	n, size := c.GPUSize()
	offsets, payload := make([]uint32, n), make([]byte, size)
	return ofBuffers(func() ([]uint32, []byte, error) { return c.GPUBuffersInto(offsets, payload) }), nil
}

// bindMemcpy copies the bytes that packing writes, into fresh memory: the bound of it.
func bindMemcpy(d *measure.Dataset) (measure.Work, error) {
	return ofBuffers(func() ([]uint32, []byte, error) {
		return append([]uint32(nil), d.Offsets...), append([]byte(nil), d.Payload...), nil
	}), nil
}

func bindMemcpyInto(d *measure.Dataset) (measure.Work, error) {
	offsets, payload := make([]uint32, len(d.Offsets)), make([]byte, len(d.Payload))
	return ofBuffers(func() ([]uint32, []byte, error) {
		copy(offsets, d.Offsets)
		copy(payload, d.Payload)
		return offsets, payload, nil
	}), nil
}

func bindHash(d *measure.Dataset) (measure.Work, error) {
	c, err := stringtensor.FromStrings(d.Rows)
	if err != nil {
		return measure.Work{}, err
	}
	var hashes []uint64
	return measure.Work{
		Run: func() error { hashes = c.HashAllInto(hashes); return nil },
		Rows: func() (iter.Seq[[]byte], error) {
			return func(yield func([]byte) bool) {
				var row [8]byte
				for _, h := range hashes {
					binary.LittleEndian.PutUint64(row[:], h)
					if !yield(row[:]) {
						return
					}
				}
			}, nil
		},
	}, nil
}
