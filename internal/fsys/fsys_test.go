package fsys_test

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/internal/fsys"
)

// both runs a test on the system's files and on those in memory, each with a directory.
func both(t *testing.T, test func(t *testing.T, sys fsys.FS, dir string)) {
	t.Run("OS", func(t *testing.T) { test(t, fsys.OS{}, t.TempDir()) })
	t.Run("Disk", func(t *testing.T) {
		disk := fsys.NewDisk()
		require.NoError(t, disk.MakeDir("a/b"))
		test(t, disk, filepath.Join("a", "b"))
	})
}

// whole reads a file.
func whole(t require.TestingT, sys fsys.FS, name string) string {
	f, err := sys.Open(name)
	require.NoError(t, err)
	size, err := f.Size()
	require.NoError(t, err)
	b := make([]byte, size)
	n, err := f.ReadAt(b, 0)
	require.NoError(t, err)
	require.Len(t, b, n)
	require.NoError(t, f.Close())
	return string(b)
}

// put makes a file with a text.
func put(t require.TestingT, sys fsys.FS, name, text string) {
	f, err := sys.Create(name)
	require.NoError(t, err)
	n, err := f.Append([]byte(text))
	require.NoError(t, err)
	require.Equal(t, len(text), n)
	require.NoError(t, f.Close())
}

func TestOpen(t *testing.T) {
	both(t, func(t *testing.T, sys fsys.FS, dir string) {
		name := filepath.Join(dir, "x")
		_, err := sys.Open(name)
		require.ErrorIs(t, err, fs.ErrNotExist)
		var where *fs.PathError
		require.ErrorAs(t, err, &where)
		require.Equal(t, name, where.Path)
		put(t, sys, name, "text")
		_, err = sys.Create(name)
		require.ErrorIs(t, err, fs.ErrExist)
		f, err := sys.OpenWrite(name)
		require.NoError(t, err)
		_, err = f.WriteAt([]byte("n"), 1)
		require.NoError(t, err)
		require.NoError(t, f.Close())
		require.Equal(t, "tnxt", whole(t, sys, name))
		f, err = sys.OpenWrite(filepath.Join(dir, "y"))
		require.NoError(t, err)
		require.NoError(t, f.Close())
		require.Empty(t, whole(t, sys, filepath.Join(dir, "y")))
		for _, deep := range []string{filepath.Join(dir, "none", "x"), filepath.Join(dir, "none")} {
			_, err = sys.Open(deep)
			require.ErrorIs(t, err, fs.ErrNotExist)
		}
		_, err = sys.Create(filepath.Join(dir, "none", "x"))
		require.ErrorIs(t, err, fs.ErrNotExist)
		_, err = sys.Create(filepath.Join(name, "x"))
		require.Error(t, err)
		_, err = sys.OpenWrite(dir)
		require.Error(t, err)
		_, err = sys.Create(dir)
		require.ErrorIs(t, err, fs.ErrExist)
		_, err = sys.Open("")
		require.Error(t, err)
	})
}

func TestReadsAndWrites(t *testing.T) {
	both(t, func(t *testing.T, sys fsys.FS, dir string) {
		name := filepath.Join(dir, "x")
		f, err := sys.Create(name)
		require.NoError(t, err)
		n, err := f.WriteAt([]byte("behind a hole"), 1500)
		require.NoError(t, err)
		require.Equal(t, 13, n)
		n, err = f.Append([]byte(", and more"))
		require.NoError(t, err)
		require.Equal(t, 10, n)
		size, err := f.Size()
		require.NoError(t, err)
		require.EqualValues(t, 1523, size)
		require.Equal(t, string(make([]byte, 1500))+"behind a hole, and more", whole(t, sys, name))

		b := []byte("......")
		n, err = f.ReadAt(b, 1519)
		require.Equal(t, io.EOF, err)
		require.Equal(t, 4, n)
		require.Equal(t, "more..", string(b))
		n, err = f.ReadAt(b, 5000)
		require.Equal(t, io.EOF, err)
		require.Zero(t, n)
		n, err = f.ReadAt(nil, 0)
		require.NoError(t, err)
		require.Zero(t, n)
		_, err = f.ReadAt(b, -1)
		require.Error(t, err)
		_, err = f.WriteAt(b, -1)
		require.Error(t, err)
		n, err = f.Append(nil)
		require.NoError(t, err)
		require.Zero(t, n)

		require.NoError(t, f.Truncate(1506))
		_, err = f.Append([]byte("!"))
		require.NoError(t, err)
		require.NoError(t, f.Truncate(2000))
		require.Equal(t, string(make([]byte, 1500))+"behind!"+string(make([]byte, 493)), whole(t, sys, name))
		require.NoError(t, f.Truncate(0))
		require.NoError(t, f.Truncate(1510))
		require.Equal(t, string(make([]byte, 1510)), whole(t, sys, name), "what was cut away does not come back")
		require.Error(t, f.Truncate(-1))
		require.NoError(t, f.Sync())
		require.NoError(t, f.Close())

		_, err = f.ReadAt(b, 0)
		require.ErrorIs(t, err, fs.ErrClosed)
		_, err = f.Append(b)
		require.ErrorIs(t, err, fs.ErrClosed)
		require.ErrorIs(t, f.Sync(), fs.ErrClosed)
		require.ErrorIs(t, f.Truncate(0), fs.ErrClosed)
		require.ErrorIs(t, f.Close(), fs.ErrClosed)

		f, err = sys.Open(name)
		require.NoError(t, err)
		_, err = f.WriteAt(b, 0)
		require.Error(t, err)
		_, err = f.Append(b)
		require.Error(t, err)
		require.Error(t, f.Truncate(0))
		require.NoError(t, f.Close())
		require.Equal(t, string(make([]byte, 1510)), whole(t, sys, name))
	})
}

func TestNames(t *testing.T) {
	both(t, func(t *testing.T, sys fsys.FS, dir string) {
		in := func(name string) string { return filepath.Join(dir, name) }
		names := func(name string) []string {
			got, err := sys.List(name)
			require.NoError(t, err)
			return got
		}
		require.Empty(t, names(dir))
		put(t, sys, in("b"), "b")
		put(t, sys, in("Z"), "Z")
		put(t, sys, in("a"), "a")
		require.NoError(t, sys.MakeDir(in("sub/deep")))
		require.NoError(t, sys.MakeDir(in("sub")))
		require.Equal(t, []string{"Z", "a", "b", "sub"}, names(dir))
		require.Equal(t, []string{"deep"}, names(in("sub")))
		require.NoError(t, sys.SyncDir(dir))
		require.Error(t, sys.MakeDir(in("a")))
		require.Error(t, sys.MakeDir(in("a/x")))
		_, err := sys.List(in("none"))
		require.ErrorIs(t, err, fs.ErrNotExist)
		require.ErrorIs(t, sys.SyncDir(in("none")), fs.ErrNotExist)

		require.NoError(t, sys.Rename(in("a"), in("b")))
		require.Equal(t, []string{"Z", "b", "sub"}, names(dir))
		require.Equal(t, "a", whole(t, sys, in("b")))
		require.NoError(t, sys.Rename(in("b"), in("b")))
		require.ErrorIs(t, sys.Rename(in("a"), in("c")), fs.ErrNotExist)
		require.ErrorIs(t, sys.Rename(in("b"), in("sub/b")), fs.ErrInvalid)
		require.Error(t, sys.Rename(in("b"), in("sub")))
		require.Error(t, sys.Rename(in("sub"), in("b")))
		require.NoError(t, sys.Rename(in("sub"), in("other")))
		require.Equal(t, []string{"Z", "b", "other"}, names(dir))

		require.NoError(t, sys.Remove(in("Z")))
		require.ErrorIs(t, sys.Remove(in("Z")), fs.ErrNotExist)
		require.Error(t, sys.Remove(in("other")), "it is not empty")
		require.NoError(t, sys.Remove(in("other/deep")))
		require.NoError(t, sys.Remove(in("other")))
		require.Equal(t, []string{"b"}, names(dir))
		_, err = sys.Open(in("Z"))
		require.ErrorIs(t, err, fs.ErrNotExist)
	})
}

// TestAppendBesideReaders: what a reader is told that there is, is there.
func TestAppendBesideReaders(t *testing.T) {
	both(t, func(t *testing.T, sys fsys.FS, dir string) {
		name := filepath.Join(dir, "log")
		f, err := sys.Create(name)
		require.NoError(t, err)
		piece := []byte("thirteenbytes")
		const writers, pieces = 4, 1000
		var g, readers sync.WaitGroup
		start, end := make(chan struct{}), make(chan struct{})
		for range writers {
			g.Go(func() {
				<-start
				for range pieces {
					if n, err := f.Append(piece); err != nil || n != len(piece) {
						t.Error(n, err)
					}
				}
			})
		}
		readers.Go(func() {
			for {
				size, err := f.Size()
				b := make([]byte, size)
				n, read := f.ReadAt(b, 0)
				if err != nil || read != nil || int64(n) != size {
					t.Error(n, size, err, read)
					return
				}
				if k := len(b) / len(piece); !bytes.HasPrefix(b, bytes.Repeat(piece, k)) {
					t.Error("another text")
					return
				}
				select {
				case <-end:
					return
				default:
				}
			}
		})
		close(start)
		g.Wait()
		close(end)
		readers.Wait()
		require.Equal(t, string(bytes.Repeat(piece, writers*pieces)), whole(t, sys, name))
		require.NoError(t, f.Close())
	})
}

// A write of a log allocates nothing.
func TestAppendDoesNotAllocate(t *testing.T) {
	f, err := fsys.OS{}.Create(filepath.Join(t.TempDir(), "log"))
	require.NoError(t, err)
	piece := make([]byte, 64)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if _, err := f.Append(piece); err != nil {
			t.Fatal(err)
		}
	}))
	require.NoError(t, f.Close())
}

func TestFilesAreNotForAll(t *testing.T) {
	if os.Getuid() <= 0 {
		t.Skip("nothing is forbidden to root, and Windows has other rights")
	}
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o500))
	_, err := fsys.OS{}.Create(filepath.Join(dir, "x"))
	require.ErrorIs(t, err, fs.ErrPermission)
	_, err = fsys.OS{}.Lock(filepath.Join(dir, "x"), "me")
	require.ErrorIs(t, err, fs.ErrPermission)
}
