package resume

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/rosaline-go/rosaline/pipeline/text"
)

// fill makes a log of n hashes and returns it, and the generation of its last frame.
func fill(b *testing.B, name string, n int) (*Log, uint64) {
	l, err := OpenLog(name, State{}, nil)
	if err != nil {
		b.Fatal(err)
	}
	if err := l.Append(2, manyHashes(n), nil); err != nil {
		b.Fatal(err)
	}
	return l, 2
}

// BenchmarkAppend is the append of one hash, with its sync.
func BenchmarkAppend(b *testing.B) {
	for _, n := range []int{10_000, 1_000_000} {
		b.Run(fmt.Sprintf("%d", n), func(b *testing.B) {
			l, generation := fill(b, filepath.Join(b.TempDir(), "log"), n)
			defer l.Close()
			one := []text.Hash128{{Hi: 1, Lo: 2}}
			b.ReportAllocs()
			for b.Loop() {
				generation++
				if err := l.Append(generation, one, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkCommit is that of a tracker alone.
func BenchmarkCommit(b *testing.B) {
	t, err := OpenStateTracker(filepath.Join(b.TempDir(), "tracker"), 0)
	if err != nil {
		b.Fatal(err)
	}
	defer t.Close()
	b.ReportAllocs()
	s := t.State()
	for b.Loop() {
		s.Generation++
		if err := t.Commit(s); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOpen reads a log of a million hashes, alone and into a deduplicator.
func BenchmarkOpen(b *testing.B) {
	const n = 1_000_000
	name := filepath.Join(b.TempDir(), "log")
	l, generation := fill(b, name, n)
	if err := l.Close(); err != nil {
		b.Fatal(err)
	}
	committed := State{Generation: generation, Hashes: n}
	b.Run("log", func(b *testing.B) {
		b.SetBytes(hashSize * n)
		for b.Loop() {
			l, err := OpenLog(name, committed, nil)
			if err != nil {
				b.Fatal(err)
			}
			l.Close()
		}
	})
	b.Run("deduplicator", func(b *testing.B) {
		b.SetBytes(hashSize * n)
		for b.Loop() {
			_, l, err := OpenDeduplicator(name, committed, nil)
			if err != nil {
				b.Fatal(err)
			}
			l.Close()
		}
	})
}
