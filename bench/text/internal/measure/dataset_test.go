package measure

import (
	"encoding/binary"
	"io/fs"
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
	d, err := ReadDataset(path)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "", "é"}, d.Rows)
	require.Equal(t, []uint32{0, 1, 1, 3}, d.Offsets)
	require.Equal(t, "aé", string(d.Payload))
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
			_, err := ReadDataset(path)
			require.ErrorIs(t, err, ErrDataset)
			require.ErrorContains(t, err, path)
		})
	}
}

func TestDatasetLines(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "x.col"), columnFile(1, []uint32{0, 1}, "a"), 0o644))
	d, err := ReadDataset(filepath.Join(dir, "x.col"))
	require.NoError(t, err)
	_, _, err = d.Lines()
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "x.jsonl"), []byte("{}\n[1]"), 0o644))
	lines, size, err := d.Lines()
	require.NoError(t, err)
	require.Equal(t, [][]byte{[]byte("{}"), []byte("[1]")}, lines)
	require.Equal(t, int64(6), size)
}
