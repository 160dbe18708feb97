package main

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// columnFile makes a column file by hand.
func columnFile(n uint32, offsets []uint32, payload string) []byte {
	data := binary.LittleEndian.AppendUint32(nil, n)
	for _, o := range offsets {
		data = binary.LittleEndian.AppendUint32(data, o)
	}
	return append(data, payload...)
}

func TestReadDataset(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.col")
	require.NoError(t, os.WriteFile(path, columnFile(3, []uint32{0, 1, 1, 3}, "aé"), 0o644))
	d, err := readDataset(path)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "", "é"}, d.rows)
	require.Equal(t, []uint32{0, 1, 1, 3}, d.offsets)
	require.Equal(t, "aé", string(d.payload))
}

func TestReadDatasetNamesTheBrokenFile(t *testing.T) {
	for name, data := range map[string][]byte{
		"empty":           {},
		"no offsets":      columnFile(3, []uint32{0, 1}, ""),
		"huge count":      columnFile(1<<32-1, []uint32{0}, ""),
		"falling offsets": columnFile(3, []uint32{0, 2, 1, 2}, "ab"),
		"payload short":   columnFile(1, []uint32{0, 3}, "ab"),
		"payload long":    columnFile(1, []uint32{0, 1}, "ab"),
		"first above 0":   columnFile(1, []uint32{1, 2}, "ab"),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.col")
			require.NoError(t, os.WriteFile(path, data, 0o644))
			_, err := readDataset(path)
			require.ErrorIs(t, err, errDataset)
			require.ErrorContains(t, err, path)
		})
	}
}
