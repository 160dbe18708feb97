package measure

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
)

// ErrDataset is returned when a column file is not what dataset.py writes.
var ErrDataset = errors.New("broken column file")

// Dataset is a column file: the same strings as rows, and as offsets and payload.
type Dataset struct {
	Rows    []string
	Offsets []uint32
	Payload []byte

	path string
}

// ReadDataset reads the column file at path; dataset.py describes the format.
func ReadDataset(path string) (*Dataset, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	d, err := ParseDataset(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; make it again with dataset.py", path, err)
	}
	d.path = path
	return d, nil
}

// ParseDataset reads a column file that is in memory.
func ParseDataset(data []byte) (*Dataset, error) {
	if len(data) < 4 {
		return nil, fmt.Errorf("%w: %d bytes, want at least 4", ErrDataset, len(data))
	}
	n := uint64(binary.LittleEndian.Uint32(data))
	head := 4 + 4*(n+1)
	if uint64(len(data)) < head {
		return nil, fmt.Errorf("%w: %d bytes, want at least %d for %d rows", ErrDataset, len(data), head, n)
	}
	d := &Dataset{Offsets: make([]uint32, n+1), Payload: data[head:], Rows: make([]string, n)}
	for i := range d.Offsets {
		d.Offsets[i] = binary.LittleEndian.Uint32(data[4+4*i:])
		if i > 0 && d.Offsets[i] < d.Offsets[i-1] {
			return nil, fmt.Errorf("%w: offset %d is below the one before it", ErrDataset, i)
		}
	}
	if last := d.Offsets[n]; uint64(last) != uint64(len(d.Payload)) || d.Offsets[0] != 0 {
		return nil, fmt.Errorf("%w: offsets from %d to %d, payload of %d bytes", ErrDataset, d.Offsets[0], last, len(d.Payload))
	}
	for i := range d.Rows {
		d.Rows[i] = string(d.Payload[d.Offsets[i]:d.Offsets[i+1]])
	}
	return d, nil
}

// Lines returns the lines of the JSONL file beside the column file, which holds the
// rows as records, and their bytes with the line ends.
func (d *Dataset) Lines() (lines [][]byte, size int64, err error) {
	data, err := os.ReadFile(strings.TrimSuffix(d.path, ".col") + ".jsonl")
	if err != nil {
		return nil, 0, err
	}
	for line := range bytes.Lines(data) {
		lines = append(lines, bytes.TrimSuffix(line, []byte("\n")))
	}
	return lines, int64(len(data)), nil
}
