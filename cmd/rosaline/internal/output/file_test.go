package output

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// unpack reads a file back by its extension.
func unpack(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	var r io.Reader = f
	switch filepath.Ext(strings.TrimSuffix(path, PartialSuffix)) {
	case ".gz":
		r, err = gzip.NewReader(f)
		require.NoError(t, err)
	case ".zst":
		z, err := zstd.NewReader(f)
		require.NoError(t, err)
		defer z.Close()
		r = z
	}
	b, err := io.ReadAll(r)
	require.NoError(t, err)
	return string(b)
}

func TestCommitAndAbort(t *testing.T) {
	for _, name := range []string{"a.jsonl", "a.jsonl.gz", "a.jsonl.zst", "a.GZ"} {
		for _, old := range []string{"", "old"} {
			t.Run(name+"/"+old, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), name)
				if old != "" {
					require.NoError(t, os.WriteFile(path, []byte(old), 0o600))
				}
				text := strings.Repeat("line\n", 1000)

				f, err := Create(path, nil)
				require.NoError(t, err)
				_, err = f.Write([]byte(text))
				require.NoError(t, err)
				requireOld(t, path, old) // nothing to see before Commit
				require.NoError(t, f.Abort())
				requireOld(t, path, old)
				require.Equal(t, path+PartialSuffix, f.Partial())
				if name != "a.GZ" {
					require.Equal(t, text, unpack(t, f.Partial()))
				}

				f, err = Create(path, nil)
				require.NoError(t, err)
				_, err = f.Write([]byte(text))
				require.NoError(t, err)
				require.NoError(t, f.Commit())
				require.NoFileExists(t, f.Partial())
				if name != "a.GZ" {
					require.Equal(t, text, unpack(t, path))
				}
				info, err := os.Stat(path)
				require.NoError(t, err)
				require.Equal(t, info.Size(), f.Written())
				if name != "a.jsonl" {
					require.Less(t, info.Size(), int64(len(text)), "compressed")
				}
				if old != "" && runtime.GOOS != "windows" {
					require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
				}
			})
		}
	}
}

func requireOld(t *testing.T, path, old string) {
	t.Helper()
	if old == "" {
		require.NoFileExists(t, path)
		return
	}
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, old, string(b))
}

func TestStdoutIsLeftOpen(t *testing.T) {
	var b bytes.Buffer
	f, err := Create(Stdout, &b)
	require.NoError(t, err)
	_, err = f.Write([]byte("x"))
	require.NoError(t, err)
	require.NoError(t, f.Commit())
	require.Equal(t, "x", b.String())
	require.Empty(t, f.Partial())
	require.EqualValues(t, 1, f.Written())
}

func TestLinkIsFollowed(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	require.NoError(t, os.WriteFile(target, nil, 0o644))
	if err := os.Symlink(target, link); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	f, err := Create(link, nil)
	require.NoError(t, err)
	_, err = f.Write([]byte("new"))
	require.NoError(t, err)
	require.NoError(t, f.Commit())
	requireOld(t, target, "new")
	info, err := os.Lstat(link)
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&os.ModeSymlink)
}

// TestLinkToNothing makes the file that the link names, as it would be written to
// if it were there.
func TestLinkToNothing(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	if err := os.Symlink("between", link); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	require.NoError(t, os.Symlink(target, filepath.Join(dir, "between")))
	require.ErrorIs(t, CheckClashes([]Use{{"-o", link, false}, {"--rejects", target, false}}, nil), ErrClash)
	f, err := Create(link, nil)
	require.NoError(t, err)
	_, err = f.Write([]byte("new"))
	require.NoError(t, err)
	require.NoError(t, f.Commit())
	requireOld(t, target, "new")
	info, err := os.Lstat(link)
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&os.ModeSymlink)
}

func TestNothingWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl.gz")
	f, err := Create(path, nil)
	require.NoError(t, err)
	require.Empty(t, f.Partial())
	require.NoError(t, f.Abort())
	require.NoFileExists(t, path)
	require.NoFileExists(t, path+PartialSuffix)

	f, err = Create(path, nil)
	require.NoError(t, err)
	require.NoError(t, f.Commit())
	require.Empty(t, unpack(t, path))
}

func TestDeviceIsWrittenStraight(t *testing.T) {
	if _, err := os.Stat("/dev/null"); err != nil {
		t.Skip("no /dev/null here")
	}
	f, err := Create("/dev/null", nil)
	require.NoError(t, err)
	_, err = f.Write([]byte("x"))
	require.NoError(t, err)
	require.Empty(t, f.Partial())
	require.NoError(t, f.Commit())
	require.NoFileExists(t, "/dev/null"+PartialSuffix)
}

func TestFullDevice(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full here")
	}
	f, err := Create("/dev/full", nil)
	require.NoError(t, err)
	_, err = f.Write([]byte("x"))
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.ErrorIs(t, f.Commit(), syscall.ENOSPC)
}

// failing is standard output that takes some bytes only.
type failing struct{ left int }

var errFull = errors.New("full")

func (w *failing) Write(p []byte) (int, error) {
	if len(p) > w.left {
		n := w.left
		w.left = 0
		return n, errFull
	}
	w.left -= len(p)
	return len(p), nil
}

func TestWriteErrorNamesThePath(t *testing.T) {
	w := &failing{left: 3}
	f, err := Create(Stdout, w)
	require.NoError(t, err)
	_, err = f.Write([]byte("ab"))
	require.NoError(t, err)
	_, err = f.Write([]byte("cd"))
	require.ErrorIs(t, err, errFull)
	w.left = 100
	_, err = f.Write([]byte("ef"))
	require.ErrorIs(t, err, errFull, "an error stays")
	require.EqualValues(t, 3, f.Written())
	require.EqualError(t, f.Commit(), "-: cannot write: full")
}

func TestCreateErrors(t *testing.T) {
	dir := t.TempDir()
	_, err := Create(dir, nil)
	require.ErrorIs(t, err, ErrDirectory)
	_, err = Create(filepath.Join(dir, "no", "such"), nil)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, filepath.Join(dir, "no", "such"))
}

// TestDescriptorIsNotReplaced writes to an open regular file by the name that the
// system gives it: what the process writes there later must not be lost.
func TestDescriptorIsNotReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	open, err := os.Create(path)
	require.NoError(t, err)
	defer open.Close()
	name := fmt.Sprintf("/dev/fd/%d", open.Fd())
	if _, err := os.Stat(name); err != nil {
		t.Skip("no /dev/fd here")
	}
	_, err = open.WriteString("before\n")
	require.NoError(t, err)
	f, err := Create(name, nil)
	require.NoError(t, err)
	_, err = f.Write([]byte("data\n"))
	require.NoError(t, err)
	require.NoError(t, f.Commit())
	requireOld(t, path, "before\ndata\n")
}
