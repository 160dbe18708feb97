package main

import (
	"encoding/binary"
	"iter"

	"github.com/rosaline-go/rosaline/stringtensor"
)

// columnSpecs are the jobs on columns of strings.
func columnSpecs() []spec {
	return []spec{
		{"from strings", "FromStrings", bindFromStrings},
		{"from offsets", "FromOffsets", bindFromOffsets},
		{"equal", "Equal", bindEqual},
		{"prefix", "FilterByPrefix", bindPrefix},
		{"prefix select", "WherePrefixInto", bindPrefixSelect},
		{"pack", "GPUBuffers", bindPack},
		{"pack into", "GPUBuffersInto", bindPackInto},
		{"hash", "HashAllInto", bindHash},
	}
}

// ofColumn is work whose result is a column.
func ofColumn(do func() (*stringtensor.Column, error)) work {
	var c *stringtensor.Column
	return work{
		run:  func() (err error) { c, err = do(); return err },
		rows: func() (iter.Seq[[]byte], error) { return columnRows(c), nil },
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

func bindFromStrings(d *dataset) (work, error) {
	return ofColumn(func() (*stringtensor.Column, error) { return stringtensor.FromStrings(d.rows) }), nil
}

func bindFromOffsets(d *dataset) (work, error) {
	return ofColumn(func() (*stringtensor.Column, error) {
		return stringtensor.FromOffsets(d.offsets, d.payload)
	}), nil
}

func bindEqual(d *dataset) (work, error) {
	a, err := stringtensor.FromStrings(d.rows)
	if err != nil {
		return work{}, err
	}
	b, err := stringtensor.FromStrings(d.rows)
	if err != nil {
		return work{}, err
	}
	same := false
	return work{
		run: func() error { same = a.Equal(b); return nil },
		rows: func() (iter.Seq[[]byte], error) {
			return func(yield func([]byte) bool) { yield(verdict(same)) }, nil
		},
	}, nil
}

// prefixOf is what the prefix jobs look for: three bytes that some rows have.
func prefixOf(d *dataset) string { return d.rows[5][:3] }

func bindPrefix(d *dataset) (work, error) {
	c, err := stringtensor.FromStrings(d.rows)
	if err != nil {
		return work{}, err
	}
	prefix := prefixOf(d)
	return ofColumn(func() (*stringtensor.Column, error) { return c.FilterByPrefix(prefix), nil }), nil
}

func bindPrefixSelect(d *dataset) (work, error) {
	c, err := stringtensor.FromStrings(d.rows)
	if err != nil {
		return work{}, err
	}
	prefix := prefixOf(d)
	var rows stringtensor.Selection
	return work{
		run: func() error { rows = c.WherePrefixInto(rows, prefix); return nil },
		rows: func() (iter.Seq[[]byte], error) {
			kept, err := c.Filter(rows)
			return columnRows(kept), err
		},
	}, nil
}

// ofBuffers is work whose result is offsets and payload.
func ofBuffers(do func() ([]uint32, []byte, error)) work {
	var offsets []uint32
	var payload []byte
	return work{
		run: func() (err error) { offsets, payload, err = do(); return err },
		rows: func() (iter.Seq[[]byte], error) {
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

func bindPack(d *dataset) (work, error) {
	c, err := stringtensor.FromStrings(d.rows)
	if err != nil {
		return work{}, err
	}
	return ofBuffers(func() ([]uint32, []byte, error) { return c.GPUBuffers() }), nil
}

func bindPackInto(d *dataset) (work, error) {
	c, err := stringtensor.FromStrings(d.rows)
	if err != nil {
		return work{}, err
	}
	n, size := c.GPUSize()
	offsets, payload := make([]uint32, n), make([]byte, size)
	return ofBuffers(func() ([]uint32, []byte, error) { return c.GPUBuffersInto(offsets, payload) }), nil
}

func bindHash(d *dataset) (work, error) {
	c, err := stringtensor.FromStrings(d.rows)
	if err != nil {
		return work{}, err
	}
	var hashes []uint64
	return work{
		run: func() error { hashes = c.HashAllInto(hashes); return nil },
		rows: func() (iter.Seq[[]byte], error) {
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

// verdict is the row of a yes or no.
func verdict(yes bool) []byte {
	if yes {
		return []byte{1}
	}
	return []byte{0}
}
