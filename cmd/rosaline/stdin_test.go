package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestInterruptibleReadsAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := bytes.Repeat([]byte("0123456789abcdef"), rapid.IntRange(0, 40000).Draw(t, "n"))
		wrap := rapid.SampledFrom([]func(io.Reader) io.Reader{
			func(r io.Reader) io.Reader { return r }, iotest.HalfReader, iotest.DataErrReader,
		}).Draw(t, "wrap")
		got, err := io.ReadAll(interruptible(context.Background(), wrap(bytes.NewReader(want))))
		require.NoError(t, err)
		require.True(t, bytes.Equal(want, got))
	})
}

func TestInterruptibleReader(t *testing.T) {
	require.NoError(t, iotest.TestReader(interruptible(t.Context(), bytes.NewReader([]byte("some bytes"))), []byte("some bytes")))
}

func TestInterruptibleError(t *testing.T) {
	failed := errors.New("failed")
	r := interruptible(t.Context(), io.MultiReader(bytes.NewReader([]byte("ab")), iotest.ErrReader(failed)))
	b, err := io.ReadAll(r)
	require.ErrorIs(t, err, failed)
	require.Equal(t, "ab", string(b))
	_, err = r.Read(make([]byte, 1))
	require.ErrorIs(t, err, failed, "an error stays")
}

func TestInterruptibleLetsGo(t *testing.T) {
	stopped := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	pr, pw := io.Pipe()
	r := interruptible(ctx, pr)
	_, err := pw.Write([]byte("x"))
	require.NoError(t, err)
	one := make([]byte, 1)
	_, err = r.Read(one)
	require.NoError(t, err)
	cancel(stopped)
	_, err = r.Read(one) // nothing will ever come
	require.ErrorIs(t, err, stopped)
	require.NoError(t, pw.Close()) // ends the goroutine
}

func TestRegularStdinIsReadDirectly(t *testing.T) {
	f, err := os.Open(write(t, t.TempDir(), "in", "x"))
	require.NoError(t, err)
	defer f.Close()
	require.Same(t, f, interruptible(t.Context(), f))
	require.Equal(t, "in", filepath.Base(f.Name()))
}
