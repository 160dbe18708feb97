package inspection

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestContextFSEndsReading: what is open cannot be read any more once the context is done.
func TestContextFSEndsReading(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(name, []byte("text"), 0o600))
	ctx, cancel := context.WithCancelCause(context.Background())
	files := contextFS{ctx: ctx}
	reading, err := files.Open(name)
	require.NoError(t, err)
	writing, err := files.OpenWrite(name)
	require.NoError(t, err)
	b := make([]byte, 4)
	_, err = reading.ReadAt(b, 0)
	require.NoError(t, err)
	require.Equal(t, "text", string(b))
	mine := errors.New("mine")
	cancel(mine)
	_, err = reading.ReadAt(b, 0)
	require.ErrorIs(t, err, mine)
	_, err = writing.ReadAt(b, 0)
	require.ErrorIs(t, err, mine)
	require.NoError(t, errors.Join(reading.Close(), writing.Close()))
	_, err = files.Open(name + "x")
	require.ErrorIs(t, err, os.ErrNotExist)
}
