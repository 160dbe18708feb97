package protocol_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/bench/pipeline/protocol"
)

// start starts this program as a side of a kind.
func start(t *testing.T, kind string, limit time.Duration) (*protocol.Process, error) {
	t.Helper()
	t.Setenv(asSide, kind)
	t.Setenv("GORACE", "atexit_sleep_ms=0") // it exits at once
	exe, err := os.Executable()
	require.NoError(t, err)
	return protocol.Start(t.Context(), limit, exe, "1.2.3")
}

func TestProcessAnswers(t *testing.T) {
	p, err := start(t, "good", time.Minute)
	require.NoError(t, err)
	require.Equal(t, protocol.Hello{System: "test", Version: "1.2.3"}, p.Hello)
	for n := 1; n < 4; n++ {
		a, err := p.Ask(protocol.Command{Case: "batch", Workers: 2, N: n})
		require.NoError(t, err)
		require.Equal(t, protocol.Answer{Case: "batch", Workers: 2, Samples: n, Seconds: 0.5, Fold: 2 * uint64(n)}, a)
	}
	require.NoError(t, p.Close())
}

func TestProcessThatFailsACase(t *testing.T) {
	p, err := start(t, "good", time.Minute)
	require.NoError(t, err)
	_, err = p.Ask(protocol.Command{Case: "none", Workers: 2, N: 1})
	require.ErrorIs(t, err, protocol.ErrAnswer)
	require.ErrorContains(t, err, `"none 2 1"`)
	require.ErrorContains(t, p.Close(), "exit status 3")
}

func TestProcessThatIsNoSide(t *testing.T) {
	for _, kind := range []string{"gone", "noise"} {
		_, err := start(t, kind, time.Minute)
		require.ErrorIs(t, err, protocol.ErrAnswer, kind)
	}
	_, err := protocol.Start(t.Context(), time.Minute, "./no such program")
	require.ErrorContains(t, err, "no such program")
}

func TestProcessThatAnswersSomethingElse(t *testing.T) {
	for _, kind := range []string{"wrong", "timeless", "broken"} {
		p, err := start(t, kind, time.Minute)
		require.NoError(t, err, kind)
		_, err = p.Ask(protocol.Command{Case: "batch", Workers: 1, N: 1})
		require.ErrorIs(t, err, protocol.ErrAnswer, kind)
		require.NoError(t, p.Close(), kind)
	}
}

func TestProcessThatIsLateIsKilled(t *testing.T) {
	began := time.Now()
	_, err := start(t, "silent", 50*time.Millisecond)
	require.ErrorIs(t, err, protocol.ErrLate)
	require.Less(t, time.Since(began), 30*time.Second, "it slept its minute")
}

func TestProcessEndsWithItsContext(t *testing.T) {
	t.Setenv(asSide, "stubborn")
	exe, err := os.Executable()
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	p, err := protocol.Start(ctx, time.Minute, exe)
	require.NoError(t, err)
	time.AfterFunc(20*time.Millisecond, cancel)
	_, err = p.Ask(protocol.Command{Case: "batch", Workers: 1, N: 1})
	require.ErrorIs(t, err, protocol.ErrAnswer)
	require.Error(t, p.Close())
}
