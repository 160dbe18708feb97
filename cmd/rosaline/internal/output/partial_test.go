package output

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTwoWritersOfOneFile: the second is refused and does no harm to the first.
func TestTwoWritersOfOneFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	first, err := Create(path, nil)
	require.NoError(t, err)
	_, err = first.Write([]byte("first"))
	require.NoError(t, err)
	_, err = Create(path, nil)
	require.ErrorIs(t, err, ErrBusy)
	require.ErrorContains(t, err, path)
	require.NoError(t, first.Commit())
	requireOld(t, path, "first")

	next, err := Create(path, nil)
	require.NoError(t, err, "the first is done")
	require.NoError(t, next.Abort())
	next, err = Create(path, nil)
	require.NoError(t, err, "aborted")
	_, err = next.Write([]byte("next"))
	require.NoError(t, err)
	require.NoError(t, next.Commit())
	requireOld(t, path, "next")
}

// TestManyWritersOfOneFile: whoever is let in writes the whole file.
func TestManyWritersOfOneFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	var all sync.WaitGroup
	errs := make(chan error, 8*100)
	for w := range 8 {
		all.Go(func() {
			content := strings.Repeat(fmt.Sprint(w), 10)
			for range 100 {
				f, err := Create(path, nil)
				if err != nil {
					errs <- err
					continue
				}
				for range 5 {
					if _, err := f.Write([]byte(content)); err != nil {
						errs <- err
					}
				}
				if err := f.Commit(); err != nil {
					errs <- err
				}
				b, err := os.ReadFile(path)
				if err != nil {
					errs <- err
				} else if len(b) != 50 || strings.Trim(string(b), string(b[:1])) != "" {
					errs <- fmt.Errorf("mixed: %q", b)
				}
			}
		})
	}
	all.Wait()
	close(errs)
	for err := range errs {
		require.ErrorIs(t, err, ErrBusy)
	}
	require.NoFileExists(t, path+PartialSuffix)
}

// TestStalePartial: what a run left behind is no obstacle to the next.
func TestStalePartial(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	require.NoError(t, os.WriteFile(path+PartialSuffix, []byte("a long rest of a run that failed"), 0o644))
	f, err := Create(path, nil)
	require.NoError(t, err)
	_, err = f.Write([]byte("new"))
	require.NoError(t, err)
	require.NoError(t, f.Commit())
	requireOld(t, path, "new")
	require.NoFileExists(t, path+PartialSuffix)
}

// TestPartialNameIsTaken by things that must not be written to.
func TestPartialNameIsTaken(t *testing.T) {
	dir := t.TempDir()
	victim := filepath.Join(dir, "victim")
	require.NoError(t, os.WriteFile(victim, []byte("precious"), 0o644))
	link := filepath.Join(dir, "link")
	if err := os.Symlink(victim, link+PartialSuffix); err != nil {
		require.Equal(t, "windows", runtime.GOOS, err)
		t.Skip("no symbolic links here:", err)
	}
	_, err := Create(link, nil)
	require.ErrorIs(t, err, ErrNotRegular)
	require.ErrorContains(t, err, link+PartialSuffix)
	requireOld(t, victim, "precious")

	folder := filepath.Join(dir, "folder")
	require.NoError(t, os.Mkdir(folder+PartialSuffix, 0o755))
	_, err = Create(folder, nil)
	require.ErrorIs(t, err, ErrNotRegular)
}
