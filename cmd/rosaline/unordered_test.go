package main

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestUnordered: the same records in whatever order, and epochs one after the other.
func TestUnordered(t *testing.T) {
	dir := t.TempDir()
	content := numbers(300) + "{broken\n" + record("short", "x")
	in := write(t, dir, "in.jsonl", content)
	args := []string{in, "--stages", "clean,quality", "--min-chars", "3", "--min-words", "0", "--min-entropy", "0", "--on-error", "skip", "--batch", "4"}
	out, rejects := runDelayed(t, "", args...)
	for _, workers := range []string{"1", "2", "7"} {
		gotOut, gotRejects := runDelayed(t, "", append(args, "--unordered", "--workers", workers)...)
		require.Equal(t, sorted(out), sorted(gotOut))
		require.Equal(t, sorted(rejects), sorted(gotRejects))

		gotOut, _ = runDelayed(t, "", append(args, "--unordered", "--workers", workers, "--epochs", "2")...)
		both := slices.Collect(strings.Lines(gotOut))
		require.Len(t, both, 600)
		require.Equal(t, sorted(out), slices.Sorted(slices.Values(both[:300])), "the first epoch comes first")
	}
}

// TestUnorderedOvertakes holds one batch back until others are written.
func TestUnorderedOvertakes(t *testing.T) {
	h := newHarness(t, strings.NewReader(numbers(20)), "--stages", "none", "--unordered", "--batch", "1", "--workers", "2", "--prefetch", "9")
	overtaken := make(chan struct{})
	var held atomic.Bool
	h.decode.pause = func() {
		if held.Swap(true) {
			return
		}
		select {
		case <-overtaken:
		case <-time.After(10 * time.Second):
			t.Error("no batch was written while one was held back")
		}
	}
	written := 0
	_, err := drive(h.engine, h.plan, func(*batch) error {
		if written++; written == 5 {
			close(overtaken)
		}
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, 20, written)
}

// TestUnorderedFails: an error is told in any case.
func TestUnorderedFails(t *testing.T) {
	in := numbers(100) + "{broken\n"
	r := inProcess(t, in, "run", "-", "--stages", "none", "--unordered", "--batch", "3")
	require.Equal(t, exitFailed, r.code)
	require.Contains(t, r.err, "rosaline: -:101: ")
	require.Subset(t, sorted(numbers(100)), slices.Collect(strings.Lines(r.out)))
}
