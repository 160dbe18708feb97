package fsys_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/internal/fsys"
)

// BenchmarkAppend is a frame of a log, without and with a sync.
func BenchmarkAppend(b *testing.B) {
	frame := make([]byte, 64)
	for _, name := range []string{"plain", "synced"} {
		b.Run(name, func(b *testing.B) {
			f, err := fsys.OS{}.Create(filepath.Join(b.TempDir(), "log"))
			require.NoError(b, err)
			b.SetBytes(int64(len(frame)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := f.Append(frame); err != nil {
					b.Fatal(err)
				}
				if name == "synced" {
					if err := f.Sync(); err != nil {
						b.Fatal(err)
					}
				}
			}
			require.NoError(b, f.Close())
		})
	}
}

// BenchmarkCrash is one outcome of a disk with 256 KiB, of which 4 KiB are not synced.
func BenchmarkCrash(b *testing.B) {
	disk := fsys.NewDisk()
	f, err := disk.Create("log")
	require.NoError(b, err)
	for _, size := range []int{256 << 10, 4 << 10} {
		require.NoError(b, f.Sync())
		piece := make([]byte, size)
		for i := range piece {
			piece[i] = 1
		}
		_, err = f.Append(piece)
		require.NoError(b, err)
	}
	require.NoError(b, disk.SyncDir("."))
	choose := fsys.Random(1)
	for b.Loop() {
		disk.Crash(choose)
	}
}
