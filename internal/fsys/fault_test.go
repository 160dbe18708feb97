package fsys_test

import (
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/internal/fsys"
)

// tour does each operation on a disk once, and returns the first error.
func tour(disk *fsys.Disk) error {
	if err := disk.MakeDir("d"); err != nil {
		return err
	}
	f, err := disk.Create("d/x")
	if err != nil {
		return err
	}
	steps := []func() error{
		func() error { _, err := f.WriteAt([]byte("abcde"), 0); return err },
		func() error { _, err := f.Append([]byte("fgh")); return err },
		func() error { return f.Truncate(7) },
		func() error { return f.Sync() },
		func() error { return disk.SyncDir("d") },
		func() error { return disk.Rename("d/x", "d/y") },
		func() error {
			g, err := disk.OpenWrite("d/y")
			if err != nil {
				return err
			}
			return g.Close()
		},
		func() error { _, err := f.ReadAt(make([]byte, 3), 1); return err },
		func() error { return disk.Remove("d/y") },
		func() error {
			l, err := disk.Lock("d/lock", "me")
			if err != nil {
				return err
			}
			return l.Close()
		},
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	return f.Close()
}

// tourStates are those after each operation of the tour that counts.
var tourStates = []string{
	"",
	"d/",
	"d/ d/x=",
	"d/ d/x=abcde",
	"d/ d/x=abcdefgh",
	"d/ d/x=abcdefg",
	"d/ d/x=abcdefg", // sync
	"d/ d/x=abcdefg", // syncdir
	"d/ d/y=abcdefg",
	"d/ d/y=abcdefg", // open
	"d/",
	"d/ d/lock=me",
}

func TestEachOperationFails(t *testing.T) {
	kinds := []fsys.Op{
		fsys.OpMakeDir, fsys.OpCreate, fsys.OpWrite, fsys.OpAppend, fsys.OpTruncate, fsys.OpSync, fsys.OpSyncDir, fsys.OpRename,
		fsys.OpOpen, fsys.OpRemove, fsys.OpLock,
	}
	disk := fsys.NewDisk()
	require.NoError(t, tour(disk))
	require.Equal(t, tourStates[len(tourStates)-1], state(t, disk.Kill(), "."))
	require.Equal(t, len(kinds), disk.Ops(fsys.OpAny))
	for i, kind := range kinds {
		require.Equal(t, 1, disk.Ops(kind))
		t.Run(kind.String(), func(t *testing.T) {
			disk := fsys.NewDisk()
			disk.FailAt(kind, 1, syscall.EIO)
			require.ErrorIs(t, tour(disk), syscall.EIO)
			require.Equal(t, 1, disk.Ops(kind))
			require.Equal(t, tourStates[i], state(t, disk.Kill(), "."))

			disk = fsys.NewDisk()
			disk.FailAt(fsys.OpAny, i+1, syscall.ENOSPC)
			require.ErrorIs(t, tour(disk), syscall.ENOSPC)
			require.Equal(t, tourStates[i], state(t, disk.Kill(), "."))

			disk = fsys.NewDisk()
			disk.FailAt(kind, 2, syscall.EIO)
			require.NoError(t, tour(disk), "the second does not come")
		})
	}
	disk = fsys.NewDisk()
	disk.FailAt(fsys.OpRead, 1, syscall.EIO)
	require.ErrorIs(t, tour(disk), syscall.EIO)
}

func TestCrashAfterEachOperation(t *testing.T) {
	for n, want := range tourStates {
		disk := fsys.NewDisk()
		disk.CrashAfter(n)
		err := tour(disk)
		if n == len(tourStates)-1 {
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, fsys.ErrCrashed)
			require.Equal(t, n, disk.Ops(fsys.OpAny))
			_, err = disk.List(".")
			require.ErrorIs(t, err, fsys.ErrCrashed, "nothing can be read either")
			require.ErrorIs(t, disk.MakeDir("e"), fsys.ErrCrashed)
		}
		require.Equal(t, want, state(t, disk.Kill(), "."), "%d operations", n)
	}
}

// TestKill: the next process finds all that was written, as little synced as before, and
// writes beside this one.
func TestKill(t *testing.T) {
	disk, x := synced(t, "a")
	_, err := disk.Lock("lock", "me")
	require.NoError(t, err)
	_, err = x.WriteAt([]byte("b"), 0)
	require.NoError(t, err)
	require.NoError(t, disk.Rename("x", "y"))
	want := []string{"lock=me x=a", "lock=me x=b", "lock=me y=a", "lock=me y=b"}
	require.Equal(t, want, outcomes(t, disk))

	next := disk.Kill()
	require.Zero(t, next.Ops(fsys.OpAny))
	require.Equal(t, want, outcomes(t, next))
	_, err = next.Lock("lock", "you")
	require.NoError(t, err)
	y, err := next.OpenWrite("y")
	require.NoError(t, err)
	_, err = y.WriteAt([]byte("c"), 0)
	require.NoError(t, err)
	require.Equal(t, want, outcomes(t, disk))
	require.NoError(t, y.Sync())
	require.Equal(t, []string{"lock=you x=c", "lock=you y=c"}, outcomes(t, next))
	require.Equal(t, want, outcomes(t, disk))
}

func TestShortWrite(t *testing.T) {
	disk, x := synced(t, "ab")
	disk.FailAt(fsys.OpAppend, 2, io.ErrShortWrite)
	n, err := x.Append([]byte("cdefg"))
	require.ErrorIs(t, err, io.ErrShortWrite)
	require.ErrorContains(t, err, "append x: ")
	require.Equal(t, 2, n)
	n, err = x.Append([]byte("!"))
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Equal(t, "x=abcd!", state(t, disk, "."))
	disk.FailAt(fsys.OpWrite, 1, io.ErrShortWrite)
	n, err = x.WriteAt([]byte("XYZ"), 0)
	require.ErrorIs(t, err, io.ErrShortWrite)
	require.Equal(t, 1, n)
	disk.FailAt(fsys.OpWrite, 2, io.ErrShortWrite)
	n, err = x.WriteAt([]byte("XYZ"), -5)
	require.Error(t, err)
	require.Zero(t, n)
	require.Equal(t, "x=Xbcd!", state(t, disk, "."))
}

func TestCapacity(t *testing.T) {
	disk := fsys.NewDisk()
	disk.SetCapacity(3*fsys.BlockSize + 100)
	f, err := disk.Create("x")
	require.NoError(t, err)
	n, err := f.WriteAt([]byte(strings.Repeat("a", 700)), 300) // blocks 0 and 1
	require.NoError(t, err)
	require.Equal(t, 700, n)
	n, err = f.Append([]byte(strings.Repeat("b", 1000))) // 24 in block 1, 512 in block 2
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.Equal(t, 536, n)
	size, err := f.Size()
	require.NoError(t, err)
	require.EqualValues(t, 1536, size)
	n, err = f.Append([]byte("c"))
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.Zero(t, n)
	n, err = f.WriteAt([]byte(strings.Repeat("d", 1536)), 0)
	require.NoError(t, err, "what is there has its room")
	require.Equal(t, 1536, n)
	require.NoError(t, f.Truncate(100_000), "a hole takes none")
	n, err = f.WriteAt([]byte("e"), 50_000)
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.Zero(t, n)

	g, err := disk.Create("y")
	require.NoError(t, err)
	_, err = g.Append([]byte("f"))
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.NoError(t, f.Truncate(1024))
	_, err = g.Append([]byte("f"))
	require.NoError(t, err)
	require.NoError(t, disk.Rename("y", "x"))
	n, err = g.Append([]byte(strings.Repeat("g", 2000)))
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.Equal(t, 1535, n, "a file without a name takes none")
	disk.SetCapacity(-1)
	n, err = g.Append([]byte(strings.Repeat("g", 2000)))
	require.NoError(t, err)
	require.Equal(t, 2000, n)
}

func TestHugeFiles(t *testing.T) {
	_, x := synced(t, "")
	_, err := x.WriteAt([]byte("ab"), 1<<30-1)
	require.ErrorIs(t, err, syscall.EFBIG)
	_, err = x.WriteAt([]byte("ab"), 1<<62)
	require.ErrorIs(t, err, syscall.EFBIG)
	require.ErrorIs(t, x.Truncate(1<<30+1), syscall.EFBIG)
}
