package source

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/rosaline-go/rosaline/pipeline"
	"github.com/stretchr/testify/require"
)

func TestImageFolder(t *testing.T) {
	dir := writeFiles(t, map[string]string{
		"cat/10.png": "", "cat/9.jpeg": "", "cat/notes.txt": "", "cat/.hidden.png": "", "cat/sub/1.png": "",
		"Zebra/a.TIFF": "", "a/1.gif": "", "a-b/1.webp": "", ".git/1.png": "", "readme.png": "",
	})
	src := must(ImageFolder(dir))
	require.Equal(t, []string{"Zebra", "a", "a-b", "cat"}, src.Classes())
	want := []string{"Zebra/a.TIFF 0", "a/1.gif 1", "a-b/1.webp 2", "cat/10.png 3", "cat/9.jpeg 3"}
	got, _ := replay[Image](t, src, pipeline.Start{}, endless)
	require.Equal(t, want, got)
	first, err := src.At(0)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, "Zebra", "a.TIFF"), first.Path)

	src = must(ImageFolder(dir, func(c *listConfig) {
		// Another file system, another order.
		c.readDir = func(path string) ([]fs.DirEntry, error) {
			entries, err := os.ReadDir(path)
			slices.Reverse(entries)
			return entries, err
		}
	}))
	got, _ = replay[Image](t, src, pipeline.Start{}, endless)
	require.Equal(t, want, got)

	src = must(ImageFolder(filepath.Join(dir), WithExtensions("png", "gif", "tiff", "webp")))
	got, _ = replay[Image](t, src, pipeline.Start{}, endless)
	require.Equal(t, want[:4], got)
	require.Equal(t, []string{"jpg", "jpeg"}, imageExtensions[:2], "the defaults were changed")
}

func TestImageFolderErrors(t *testing.T) {
	dir := writeFiles(t, map[string]string{"ok/a/1.png": "", "none/1.png": "", "empty/a/1.png": "", "empty/b/1.txt": ""})
	for name, say := range map[string]string{"gone": "gone", "none": "no classes", "empty": "class " + filepath.Join(dir, "empty", "b"), "none/1.png": "1.png"} {
		_, err := ImageFolder(filepath.Join(dir, name))
		require.ErrorIs(t, err, ErrNoInput, name)
		require.ErrorContains(t, err, say)
	}
	_, err := ImageFolder(filepath.Join(dir, "ok"), WithExtensions())
	require.ErrorIs(t, err, ErrOption)

	broken := errors.New("broken")
	_, err = ImageFolder(filepath.Join(dir, "ok"), func(c *listConfig) {
		c.readDir = func(path string) ([]fs.DirEntry, error) {
			if filepath.Base(path) == "a" {
				return nil, broken
			}
			return os.ReadDir(path)
		}
	})
	require.ErrorIs(t, err, broken)

	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege there")
	}
	require.NoError(t, os.Symlink(filepath.Join(dir, "ok", "a"), filepath.Join(dir, "ok", "b")))
	require.Equal(t, []string{"a", "b"}, must(ImageFolder(filepath.Join(dir, "ok"))).Classes())
	require.NoError(t, os.Symlink(filepath.Join(dir, "gone"), filepath.Join(dir, "ok", "c")))
	_, err = ImageFolder(filepath.Join(dir, "ok"))
	require.ErrorIs(t, err, fs.ErrNotExist)

	if os.Geteuid() == 0 {
		t.Skip("the superuser may read everything")
	}
	require.NoError(t, os.Remove(filepath.Join(dir, "ok", "c")))
	require.NoError(t, os.Chmod(filepath.Join(dir, "ok", "a"), 0))
	_, err = ImageFolder(filepath.Join(dir, "ok"))
	require.ErrorIs(t, err, fs.ErrPermission)
}
