package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
)

// errDataset is returned when a column file is not what dataset.py writes.
var errDataset = errors.New("broken column file")

// dataset is a column file: the same strings as rows, and as offsets and payload.
type dataset struct {
	rows    []string
	offsets []uint32
	payload []byte
}

// readDataset reads the column file at path; dataset.py describes the format.
func readDataset(path string) (*dataset, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	d, err := parseDataset(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; make it again with dataset.py", path, err)
	}
	return d, nil
}

func parseDataset(data []byte) (*dataset, error) {
	if len(data) < 4 {
		return nil, fmt.Errorf("%w: %d bytes, want at least 4", errDataset, len(data))
	}
	n := uint64(binary.LittleEndian.Uint32(data))
	head := 4 + 4*(n+1)
	if uint64(len(data)) < head {
		return nil, fmt.Errorf("%w: %d bytes, want at least %d for %d rows", errDataset, len(data), head, n)
	}
	d := &dataset{offsets: make([]uint32, n+1), payload: data[head:], rows: make([]string, n)}
	for i := range d.offsets {
		d.offsets[i] = binary.LittleEndian.Uint32(data[4+4*i:])
		if i > 0 && d.offsets[i] < d.offsets[i-1] {
			return nil, fmt.Errorf("%w: offset %d is below the one before it", errDataset, i)
		}
	}
	if last := d.offsets[n]; uint64(last) != uint64(len(d.payload)) || d.offsets[0] != 0 {
		return nil, fmt.Errorf("%w: offsets from %d to %d, payload of %d bytes", errDataset, d.offsets[0], last, len(d.payload))
	}
	for i := range d.rows {
		d.rows[i] = string(d.payload[d.offsets[i]:d.offsets[i+1]])
	}
	return d, nil
}
