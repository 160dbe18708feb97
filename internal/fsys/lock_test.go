package fsys_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/internal/fsys"
)

// lockerOf makes this test program take the lock that it names, say what came of it, and keep
// it until its standard input ends.
const lockerOf = "ROSALINE_TEST_LOCK"

func TestMain(m *testing.M) {
	if name := os.Getenv(lockerOf); name != "" {
		_, err := fsys.OS{}.Lock(name, "another process")
		fmt.Println(err)
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// locker starts another process that takes a lock, and returns what it says of that and how to
// end it: with kill at once, as a crash of it would.
func locker(t *testing.T, name string) (said string, end func(kill bool)) {
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), lockerOf+"="+name)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	said, err = bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	return said, func(kill bool) {
		if kill {
			require.NoError(t, cmd.Process.Kill())
			require.Error(t, cmd.Wait())
			return
		}
		require.NoError(t, in.Close())
		require.NoError(t, cmd.Wait())
	}
}

func TestLock(t *testing.T) {
	both(t, func(t *testing.T, sys fsys.FS, dir string) {
		name := filepath.Join(dir, "lock")
		first, err := sys.Lock(name, "the first, with a long name")
		require.NoError(t, err)
		_, err = sys.Lock(name, "the second")
		require.ErrorIs(t, err, fsys.ErrLocked)
		require.ErrorContains(t, err, "lock "+name+": fsys: locked by the first, with a long name")
		require.Equal(t, "the first, with a long name", whole(t, sys, name))
		other, err := sys.Lock(filepath.Join(dir, "other"), "the second")
		require.NoError(t, err)
		require.NoError(t, other.Close())

		require.NoError(t, first.Close())
		require.Error(t, first.Close())
		second, err := sys.Lock(name, "2")
		require.NoError(t, err)
		require.Equal(t, "2", whole(t, sys, name))
		_, err = sys.Lock(name, "the third")
		require.ErrorContains(t, err, "locked by 2")
		require.NoError(t, second.Close())

		nobody, err := sys.Lock(name, "")
		require.NoError(t, err)
		_, err = sys.Lock(name, "the fourth")
		require.ErrorIs(t, err, fsys.ErrLocked)
		require.NoError(t, nobody.Close())
		names, err := sys.List(dir)
		require.NoError(t, err)
		require.Equal(t, []string{"lock", "other"}, names)
		_, err = sys.Lock(filepath.Join(dir, "none", "lock"), "me")
		require.Error(t, err)
		_, err = sys.Lock(dir, "me")
		require.Error(t, err)
	})
}

// TestLockOfProcesses: a lock ends with its process, however that ends.
func TestLockOfProcesses(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	for _, kill := range []bool{false, true} {
		said, end := locker(t, name)
		require.Equal(t, "<nil>\n", said)
		_, err := fsys.OS{}.Lock(name, "me")
		require.ErrorIs(t, err, fsys.ErrLocked)
		require.ErrorContains(t, err, "locked by another process")
		end(kill)

		l, err := fsys.OS{}.Lock(name, "me")
		require.NoError(t, err)
		said, end = locker(t, name)
		require.Contains(t, said, "fsys: locked by me")
		end(kill)
		require.NoError(t, l.Close())
	}
}

// Locks do not outlive a crash.
func TestLockAfterCrash(t *testing.T) {
	disk := fsys.NewDisk()
	_, err := disk.Lock("lock", "me")
	require.NoError(t, err)
	o := fsys.NewOutcomes(0)
	for o.Next() {
		left := disk.Crash(o.Choose)
		_, err = left.Lock("lock", "you")
		require.NoError(t, err)
	}
	require.Equal(t, 1, o.Count())
	_, err = disk.Lock("/lock", "you")
	require.ErrorIs(t, err, fsys.ErrLocked)
}
