package source

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/rosaline-go/rosaline/pipeline"
	"github.com/stretchr/testify/require"
)

// listed returns the paths below dir, and the sizes, of what patterns below dir stand for.
func listed(t *testing.T, dir string, patterns []string, opts ...ListOption) []string {
	t.Helper()
	for i, p := range patterns {
		patterns[i] = filepath.Join(dir, filepath.FromSlash(p))
	}
	g, err := Glob(patterns, opts...)
	require.NoError(t, err)
	require.Equal(t, int64(len(g.Files())), g.Len())
	out := []string{}
	for _, f := range g.Files() {
		out = append(out, fmt.Sprintf("%s %d", filepath.ToSlash(strings.TrimPrefix(f.Path, dir))[1:], f.Size))
	}
	return out
}

func TestGlob(t *testing.T) {
	dir := writeFiles(t, map[string]string{
		"b.bin": "22", "B.PNG": "1", "a": "", "sub/c.png": "333", "sub/deep/d.tar.gz": "4444", "sub-x/e": "5", ".hidden": "", ".dir/f": "", "x[1].png": "x",
	})
	for _, c := range []struct {
		name     string
		patterns []string
		opts     []ListOption
		want     []string
	}{
		{"a file", []string{"b.bin"}, nil, []string{"b.bin 2"}},
		{"a folder", []string{"."}, nil, []string{"B.PNG 1", "a 0", "b.bin 2", "sub-x/e 1", "sub/c.png 3", "sub/deep/d.tar.gz 4", "x[1].png 1"}},
		{"extensions", []string{"."}, []ListOption{WithExtensions("png", ".TAR.gz")}, []string{"B.PNG 1", "sub/c.png 3", "sub/deep/d.tar.gz 4", "x[1].png 1"}},
		{"a file of another extension by name", []string{"a", "sub"}, []ListOption{WithExtensions("png")}, []string{"a 0", "sub/c.png 3"}},
		{"a pattern", []string{"*.png"}, nil, []string{"x[1].png 1"}},
		{"a pattern of folders", []string{"su*"}, nil, []string{"sub-x/e 1", "sub/c.png 3", "sub/deep/d.tar.gz 4"}},
		{"a hidden one by a dot", []string{".h*"}, nil, []string{".hidden 0"}},
		{"a name that looks like a pattern", []string{"x[1].png"}, nil, []string{"x[1].png 1"}},
		{"once each", []string{"sub", "sub/c.png", "s*/*.png", "a"}, nil, []string{"a 0", "sub/c.png 3", "sub/deep/d.tar.gz 4"}},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, listed(t, dir, c.patterns, c.opts...)) })
	}
}

func TestGlobErrors(t *testing.T) {
	dir := writeFiles(t, map[string]string{"a.txt": "", "empty/.keep": ""})
	for _, c := range []struct {
		name     string
		patterns []string
		opts     []ListOption
		is       error
		say      string
	}{
		{"no pattern", nil, nil, ErrNoInput, "name a file"},
		{"an empty one", []string{""}, nil, ErrNoInput, "empty"},
		{"nothing there", []string{dir + "/gone"}, nil, ErrNoInput, "gone"},
		{"nothing matches", []string{dir + "/*.png"}, nil, ErrNoInput, "*.png"},
		{"not a pattern", []string{dir + "/[x"}, nil, filepath.ErrBadPattern, "[x"},
		{"a folder of nothing", []string{dir + "/empty"}, nil, ErrNoInput, "empty"},
		{"a folder of other files", []string{dir}, []ListOption{WithExtensions("png", "jpg")}, ErrNoInput, "no file that ends with .png, .jpg"},
		{"one of two", []string{dir, dir + "/gone"}, nil, ErrNoInput, "gone"},
		{"no extension", []string{dir}, []ListOption{WithExtensions()}, ErrOption, "WithExtensions"},
		{"an empty extension", []string{dir}, []ListOption{WithExtensions(".")}, ErrOption, "WithExtensions"},
		{"a path for an extension", []string{dir}, []ListOption{WithExtensions("a/b")}, ErrOption, "WithExtensions"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Glob(c.patterns, c.opts...)
			require.ErrorIs(t, err, c.is)
			require.ErrorContains(t, err, c.say)
			if c.is == filepath.ErrBadPattern {
				require.ErrorIs(t, err, ErrNoInput)
			}
		})
	}
	t.Run("a folder that cannot be read", func(t *testing.T) {
		broken := errors.New("broken")
		_, err := Glob([]string{dir}, func(c *listConfig) {
			c.readDir = func(path string) ([]fs.DirEntry, error) {
				if filepath.Base(path) == "empty" {
					return nil, broken
				}
				return os.ReadDir(path)
			}
		})
		require.ErrorIs(t, err, broken)
	})
}

func TestGlobLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege there")
	}
	dir := writeFiles(t, map[string]string{"in/a": "1", "out/b": "22"})
	require.NoError(t, os.Symlink(filepath.Join(dir, "out", "b"), filepath.Join(dir, "in", "link")))
	require.NoError(t, os.Symlink(filepath.Join(dir, "in"), filepath.Join(dir, "in", "loop")))
	require.Equal(t, []string{"in/a 1", "in/link 2"}, listed(t, dir, []string{"in"}))
	require.NoError(t, os.Symlink(filepath.Join(dir, "gone"), filepath.Join(dir, "in", "broken")))
	_, err := Glob([]string{filepath.Join(dir, "in")})
	require.ErrorIs(t, err, ErrNoInput)
	require.ErrorContains(t, err, "broken")
}

// The list is that of the time when the source was made.
func TestGlobListsOnce(t *testing.T) {
	dir := writeFiles(t, map[string]string{"a": "1", "b": "2"})
	src := must(Glob([]string{dir}))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "c"), nil, 0o644))
	require.NoError(t, os.Remove(filepath.Join(dir, "a")))
	for epoch := range int64(2) {
		got, _ := replay[File](t, src, pipeline.Start{Epoch: epoch}, 9)
		require.Equal(t, []string{"a", "b"}, got)
	}
}

func TestShardFiles(t *testing.T) {
	files := map[string]string{}
	for _, class := range []string{"x", "y"} {
		for i := range 5 {
			files[fmt.Sprintf("%s/%d.png", class, i)] = ""
			files[fmt.Sprintf("%s/%d.csv", class, i)] = fmt.Sprintf("c\n%s%d\n", class, i)
		}
	}
	dir := writeFiles(t, files)
	glob := must(Glob([]string{dir}, WithExtensions("png")))
	images := must(ImageFolder(dir))
	rows := must(CSV([]string{dir}))
	mixed := must(Mix([]pipeline.Source[Row]{must(CSV([]string{dir + "/x"})), must(CSV([]string{dir + "/y"}))}, []float64{1, 1}))
	turns := must(Interleave(1, numbers(0, 1), numbers(1, 2), numbers(2, 3)))
	shards := func(world int, one func(rank int) []string) []string {
		var merged []string
		parts := make([][]string, world)
		for rank := range world {
			parts[rank] = one(rank)
		}
		for i := 0; ; i++ {
			if len(parts[i%world]) <= i/world {
				return merged
			}
			merged = append(merged, parts[i%world][i/world])
		}
	}
	for _, world := range []int{1, 2, 3, 11} {
		whole, _ := replay[File](t, glob, pipeline.Start{}, endless)
		require.Equal(t, whole, shards(world, func(rank int) []string {
			got, _ := replay(t, must(glob.ShardFiles(rank, world)), pipeline.Start{}, endless)
			return got
		}))
		whole, _ = replay[Image](t, images, pipeline.Start{}, endless)
		require.Equal(t, whole, shards(world, func(rank int) []string {
			got, _ := replay(t, must(images.ShardFiles(rank, world)), pipeline.Start{}, endless)
			return got
		}))
		whole, _ = replay[Row](t, rows, pipeline.Start{}, endless)
		require.Equal(t, whole, shards(world, func(rank int) []string {
			got, _ := replay(t, must(rows.ShardFiles(rank, world)), pipeline.Start{}, endless)
			return got
		}))
		require.Equal(t, []string{"0", "1", "2"}, shards(world, func(rank int) []string {
			got, _ := replay(t, must(turns.ShardFiles(rank, world)), pipeline.Start{}, endless)
			return got
		}))
		var all []string
		for rank := range world {
			got, _ := replay(t, must(mixed.ShardFiles(rank, world)), pipeline.Start{}, endless)
			all = append(all, got...)
		}
		require.ElementsMatch(t, whole, all)
	}
	for _, shard := range []func(rank, world int) error{
		func(rank, world int) error { _, err := glob.ShardFiles(rank, world); return err },
		func(rank, world int) error { _, err := images.ShardFiles(rank, world); return err },
		func(rank, world int) error { _, err := rows.ShardFiles(rank, world); return err },
		func(rank, world int) error { _, err := mixed.ShardFiles(rank, world); return err },
		func(rank, world int) error { _, err := turns.ShardFiles(rank, world); return err },
	} {
		for _, c := range [][2]int{{0, 0}, {-1, 2}, {2, 2}} {
			require.ErrorIs(t, shard(c[0], c[1]), ErrOption)
		}
	}
	_, err := must(Mix([]pipeline.Source[int64]{numbers(0, 1)}, []float64{1})).ShardFiles(0, 1)
	require.ErrorIs(t, err, ErrOption)
}

// A description is one line, however many files there are, and other files have another.
func TestDescribePaths(t *testing.T) {
	seen := map[string]bool{}
	for _, n := range []int{0, 1, 8, 9, 5000} {
		for _, swap := range []bool{false, true} {
			d := describePaths(n, func(i int) string {
				if swap && i == n/2 {
					i = -i - 1
				}
				return fmt.Sprintf("dir/%d\n", i)
			})
			require.NotContains(t, d, "\n")
			require.Less(t, len(d), 400)
			require.True(t, n == 0 || !seen[d], d)
			seen[d] = true
		}
	}
	// Where one path ends and the next begins matters.
	paths := func(first, second string) string {
		return describePaths(10, func(i int) string { return []string{0: "a", 4: first, 5: second, 9: ""}[i] })
	}
	require.NotEqual(t, paths("ab", "c"), paths("a", "bc"))
}
