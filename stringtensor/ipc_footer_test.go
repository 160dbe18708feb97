package stringtensor

import (
	"bytes"
	"io"
	"os"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/stretchr/testify/require"
)

// TestFileWithoutSchemaMessage reads a file of polars, which has its schema in the footer
// alone, and compares with the reader of the Arrow library.
func TestFileWithoutSchemaMessage(t *testing.T) {
	data, err := os.ReadFile("testdata/polars.arrow")
	require.NoError(t, err)
	want, err := ipc.NewFileReader(bytes.NewReader(data))
	require.NoError(t, err)
	got, err := NewIPCFileReader(bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	require.True(t, want.Schema().Equal(got.Schema()))
	for i := range want.NumRecords() {
		w, err := want.RecordBatchAt(i)
		require.NoError(t, err)
		g, err := got.NextRecord()
		require.NoError(t, err)
		require.True(t, array.RecordEqual(w, g))
		w.Release()
		g.Release()
	}
	_, err = got.NextRecord()
	require.Equal(t, io.EOF, err)

	for n := range data {
		if r, err := NewIPCFileReader(bytes.NewReader(data[:n]), int64(n)); err == nil {
			for err == nil {
				_, err = r.NextRecord()
			}
			require.ErrorIs(t, err, ErrInvalid)
		}
	}
}
