package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestInterruptibleReadsAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := bytes.Repeat([]byte("0123456789abcdef"), rapid.IntRange(0, 40000).Draw(t, "n"))
		wrap := rapid.SampledFrom([]func(io.Reader) io.Reader{
			func(r io.Reader) io.Reader { return r }, iotest.HalfReader, iotest.DataErrReader,
		}).Draw(t, "wrap")
		got, err := io.ReadAll(newInterruptible(context.Background(), wrap(bytes.NewReader(want))))
		require.NoError(t, err)
		require.True(t, bytes.Equal(want, got))
	})
}

func TestInterruptibleReader(t *testing.T) {
	require.NoError(t, iotest.TestReader(newInterruptible(t.Context(), bytes.NewReader([]byte("some bytes"))), []byte("some bytes")))
}

func TestInterruptibleError(t *testing.T) {
	failed := errors.New("failed")
	r := newInterruptible(t.Context(), io.MultiReader(bytes.NewReader([]byte("ab")), iotest.ErrReader(failed)))
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
	r := newInterruptible(ctx, pr)
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

// TestInterruptibleRegularFile is read without a goroutine.
func TestInterruptibleRegularFile(t *testing.T) {
	stopped := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	f, err := openInterruptible(ctx, write(t, t.TempDir(), "in", "xy"))
	require.NoError(t, err)
	one := make([]byte, 1)
	_, err = f.Read(one)
	require.NoError(t, err)
	require.Equal(t, "x", string(one))
	cancel(stopped)
	_, err = f.Read(one)
	require.ErrorIs(t, err, stopped)
	require.NoError(t, f.Close())
	goleak.VerifyNone(t)
}
