package fsys_test

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/internal/fsys"
)

// state writes down what is on a disk: "name=text" of each file, and "name/" of a directory.
// Zeros are dots.
func state(t require.TestingT, sys fsys.FS, dir string) string {
	var all []string
	names, err := sys.List(dir)
	require.NoError(t, err)
	for _, name := range names {
		full := path.Join(dir, name)
		if _, err := sys.List(full); err == nil {
			all = append(all, full+"/")
			if below := state(t, sys, full); below != "" {
				all = append(all, below)
			}
			continue
		}
		all = append(all, full+"="+strings.ReplaceAll(whole(t, sys, full), "\x00", "."))
	}
	return strings.Join(all, " ")
}

// outcomes returns the states of all that may be left.
func outcomes(t *testing.T, disk *fsys.Disk) []string {
	before := state(t, disk, ".")
	seen := map[string]bool{}
	o := fsys.NewOutcomes(0)
	for o.Next() {
		left := disk.Crash(o.Choose)
		s := state(t, left, ".")
		seen[s] = true
		require.Equal(t, s, state(t, left.Crash(func(int) int { panic("all is synced") }), "."))
	}
	require.True(t, o.Complete())
	require.Equal(t, before, state(t, disk, "."), "a crash leaves the disk alone")
	var all []string
	for s := range seen {
		all = append(all, s)
	}
	slices.Sort(all)
	t.Log(o.Count(), "outcomes,", len(all), "of them different")
	return all
}

// synced makes a disk with a file x of a text.
func synced(t *testing.T, text string) (*fsys.Disk, fsys.File) {
	disk := fsys.NewDisk()
	f, err := disk.Create("x")
	require.NoError(t, err)
	_, err = f.Append([]byte(text))
	require.NoError(t, err)
	require.NoError(t, f.Sync())
	require.NoError(t, disk.SyncDir("."))
	return disk, f
}

// The outcomes are worked out by hand.
func TestCrash(t *testing.T) {
	anyNames := fsys.Model{AnyNames: true}
	write := func(t *testing.T, f fsys.File, text string, off int64) {
		n, err := f.WriteAt([]byte(text), off)
		require.NoError(t, err)
		require.Equal(t, len(text), n)
	}
	for _, c := range []struct {
		name  string
		was   string // in x
		model fsys.Model
		do    func(t *testing.T, disk *fsys.Disk, x fsys.File)
		want  []string
	}{
		{
			name: "nothing", was: "old",
			do:   func(*testing.T, *fsys.Disk, fsys.File) {},
			want: []string{"x=old"},
		}, {
			name: "a block is old, new or torn", was: "aaaa",
			do:   func(t *testing.T, _ *fsys.Disk, x fsys.File) { write(t, x, "bbbb", 0) },
			want: []string{"x=aaaa", "x=bbbb", "x=baaa", "x=bbaa", "x=bbba"},
		}, {
			name: "only where it differs", was: "abcdefghij",
			do:   func(t *testing.T, _ *fsys.Disk, x fsys.File) { write(t, x, "ABcdE", 0) },
			want: []string{"x=abcdefghij", "x=ABcdEfghij", "x=Abcdefghij", "x=ABcdefghij"},
		}, {
			name: "three cuts of many", was: "aaaaaaaaa",
			do:   func(t *testing.T, _ *fsys.Disk, x fsys.File) { write(t, x, "bbbbbbbbb", 0) },
			want: []string{"x=aaaaaaaaa", "x=bbbbbbbbb", "x=baaaaaaaa", "x=bbbbaaaaa", "x=bbbbbbbba"},
		}, {
			name: "any cut", was: "aaaaaa", model: fsys.Model{AnyCut: true},
			do:   func(t *testing.T, _ *fsys.Disk, x fsys.File) { write(t, x, "bbbbbb", 0) },
			want: []string{"x=aaaaaa", "x=bbbbbb", "x=baaaaa", "x=bbaaaa", "x=bbbaaa", "x=bbbbaa", "x=bbbbba"},
		}, {
			name: "what grew is old, new, zero or torn", was: "ab",
			do:   func(t *testing.T, _ *fsys.Disk, x fsys.File) { write(t, x, "cd", 2) },
			want: []string{"x=ab", "x=abcd", "x=ab..", "x=abc.", "x=abc", "x=ab."},
		}, {
			name: "a hole that is filled", was: "",
			do: func(t *testing.T, _ *fsys.Disk, x fsys.File) {
				require.NoError(t, x.Truncate(3))
				require.NoError(t, x.Sync())
				write(t, x, "Z", 1)
			},
			want: []string{"x=...", "x=.Z."},
		}, {
			name: "writes in between", was: "a",
			do: func(t *testing.T, _ *fsys.Disk, x fsys.File) {
				write(t, x, "b", 0)
				write(t, x, "c", 0)
			},
			want: []string{"x=a", "x=b", "x=c"},
		}, {
			name: "what was cut away does not come back", was: "abcd",
			do: func(t *testing.T, _ *fsys.Disk, x fsys.File) {
				require.NoError(t, x.Truncate(1))
				write(t, x, "ZZ", 1)
			},
			want: []string{"x=abcd", "x=a", "x=aZZ", "x=aZ.", "x=a..", "x=aZ", "x=a."},
		}, {
			name: "a block that is cut away", was: strings.Repeat("a", 600),
			do: func(t *testing.T, _ *fsys.Disk, x fsys.File) {
				require.NoError(t, x.Truncate(512))
			},
			want: []string{"x=" + strings.Repeat("a", 600), "x=" + strings.Repeat("a", 512)},
		}, {
			name: "a cut and a hole", was: "abcd",
			do: func(t *testing.T, _ *fsys.Disk, x fsys.File) {
				require.NoError(t, x.Truncate(2))
				require.NoError(t, x.Truncate(4))
			},
			want: []string{"x=abcd", "x=ab", "x=ab.", "x=ab.."},
		}, {
			name: "blocks do not depend on each other", was: strings.Repeat("a", 513),
			do: func(t *testing.T, _ *fsys.Disk, x fsys.File) {
				write(t, x, "bc", 511)
			},
			want: []string{
				"x=" + strings.Repeat("a", 513),
				"x=" + strings.Repeat("a", 512) + "c",
				"x=" + strings.Repeat("a", 511) + "ba",
				"x=" + strings.Repeat("a", 511) + "bc",
			},
		}, {
			name: "a file that was made, synced", was: "old",
			do: func(t *testing.T, disk *fsys.Disk, _ fsys.File) {
				f, err := disk.Create("y")
				require.NoError(t, err)
				write(t, f, "n", 0)
				require.NoError(t, f.Sync())
			},
			want: []string{"x=old", "x=old y=n"},
		}, {
			name: "a file that was made, not synced", was: "old",
			do: func(t *testing.T, disk *fsys.Disk, _ fsys.File) {
				put(t, disk, "y", "n")
			},
			want: []string{"x=old", "x=old y=n", "x=old y=.", "x=old y="},
		}, {
			name: "a rename is lost or kept as a whole", was: "old",
			do: func(t *testing.T, disk *fsys.Disk, x fsys.File) {
				f, err := disk.Create("y")
				require.NoError(t, err)
				write(t, f, "new", 0)
				require.NoError(t, f.Sync())
				require.NoError(t, disk.SyncDir("."))
				require.NoError(t, disk.Rename("y", "x"))
				write(t, x, "dlo", 0) // into the file that has no name any longer
				require.NoError(t, x.Sync())
			},
			want: []string{"x=dlo y=new", "x=new"},
		}, {
			name: "a rename that is synced", was: "old",
			do: func(t *testing.T, disk *fsys.Disk, _ fsys.File) {
				f, err := disk.Create("y")
				require.NoError(t, err)
				write(t, f, "new", 0)
				require.NoError(t, f.Sync())
				require.NoError(t, disk.Rename("y", "x"))
				require.NoError(t, disk.SyncDir("."))
			},
			want: []string{"x=new"},
		}, {
			name: "a rename before the sync", was: "old",
			do: func(t *testing.T, disk *fsys.Disk, _ fsys.File) {
				put(t, disk, "y", "n")
				require.NoError(t, disk.Rename("y", "x"))
				require.NoError(t, disk.SyncDir("."))
			},
			want: []string{"x=n", "x=.", "x="},
		}, {
			name: "a removal", was: "old",
			do: func(t *testing.T, disk *fsys.Disk, _ fsys.File) {
				require.NoError(t, disk.Remove("x"))
			},
			want: []string{"x=old", ""},
		}, {
			name: "a name that is used again", was: "old",
			do: func(t *testing.T, disk *fsys.Disk, _ fsys.File) {
				require.NoError(t, disk.Remove("x"))
				put(t, disk, "x", "")
			},
			want: []string{"x=old", "", "x="},
		}, {
			name: "names in order", was: "",
			do: func(t *testing.T, disk *fsys.Disk, _ fsys.File) {
				put(t, disk, "a", "")
				put(t, disk, "b", "")
			},
			want: []string{"x=", "a= x=", "a= b= x="},
		}, {
			name: "names in any order", was: "", model: anyNames,
			do: func(t *testing.T, disk *fsys.Disk, _ fsys.File) {
				put(t, disk, "a", "")
				put(t, disk, "b", "")
			},
			want: []string{"x=", "a= x=", "b= x=", "a= b= x="},
		}, {
			name: "renames in any order", was: "old", model: anyNames,
			do: func(t *testing.T, disk *fsys.Disk, _ fsys.File) {
				require.NoError(t, disk.Rename("x", "y"))
				require.NoError(t, disk.Rename("y", "z"))
			},
			want: []string{"x=old", "y=old", "z=old"},
		}, {
			name: "a directory", was: "",
			do: func(t *testing.T, disk *fsys.Disk, _ fsys.File) {
				require.NoError(t, disk.MakeDir("d/e"))
				f, err := disk.Create("d/e/y")
				require.NoError(t, err)
				write(t, f, "y", 0)
				require.NoError(t, f.Sync())
				require.NoError(t, disk.SyncDir("d/e"))
			},
			want: []string{"x=", "d/ x=", "d/ d/e/ d/e/y=y x="},
		}, {
			name: "directories do not depend on each other", was: "",
			do: func(t *testing.T, disk *fsys.Disk, _ fsys.File) {
				require.NoError(t, disk.MakeDir("d"))
				require.NoError(t, disk.SyncDir("."))
				put(t, disk, "d/a", "")
				put(t, disk, "b", "")
			},
			want: []string{"d/ x=", "d/ d/a= x=", "b= d/ x=", "b= d/ d/a= x="},
		}, {
			name: "a sync that failed, and one that did not", was: "a",
			do: func(t *testing.T, disk *fsys.Disk, x fsys.File) {
				write(t, x, "b", 0)
				disk.FailAt(fsys.OpSync, 2, syscall.EIO)
				require.ErrorIs(t, x.Sync(), syscall.EIO)
				require.NoError(t, x.Sync())
			},
			want: []string{"x=a", "x=b"},
		}, {
			name: "a sync that failed, of a size", was: "a",
			do: func(t *testing.T, disk *fsys.Disk, x fsys.File) {
				write(t, x, "b", 1)
				disk.FailAt(fsys.OpSync, 2, syscall.EIO)
				require.ErrorIs(t, x.Sync(), syscall.EIO)
				require.NoError(t, x.Sync())
			},
			want: []string{"x=a", "x=ab", "x=a."},
		}, {
			name: "written once more", was: "a",
			do: func(t *testing.T, disk *fsys.Disk, x fsys.File) {
				write(t, x, "b", 0)
				disk.FailAt(fsys.OpSync, 2, syscall.EIO)
				require.ErrorIs(t, x.Sync(), syscall.EIO)
				write(t, x, "b", 0)
				require.NoError(t, x.Sync())
			},
			want: []string{"x=b"},
		}, {
			name: "a sync that failed, of a cut", was: "abcd",
			do: func(t *testing.T, disk *fsys.Disk, x fsys.File) {
				require.NoError(t, x.Truncate(2))
				disk.FailAt(fsys.OpSync, 2, syscall.EIO)
				require.ErrorIs(t, x.Sync(), syscall.EIO)
				require.NoError(t, x.Sync())
			},
			want: []string{"x=ab", "x=abcd"},
		}, {
			name: "a sync that failed, of a cut, and a greater size", was: strings.Repeat("a", 603),
			do: func(t *testing.T, disk *fsys.Disk, x fsys.File) {
				require.NoError(t, x.Truncate(600))
				disk.FailAt(fsys.OpSync, 2, syscall.EIO)
				require.ErrorIs(t, x.Sync(), syscall.EIO)
				require.NoError(t, x.Truncate(605)) // of the same block nothing is written
				require.NoError(t, x.Sync())
			},
			want: []string{
				"x=" + strings.Repeat("a", 600) + ".....",
				"x=" + strings.Repeat("a", 600) + ".aa..",
				"x=" + strings.Repeat("a", 600) + "..a..",
				"x=" + strings.Repeat("a", 603) + "..",
			},
		}, {
			name: "a sync of names that failed", was: "a",
			do: func(t *testing.T, disk *fsys.Disk, _ fsys.File) {
				require.NoError(t, disk.Remove("x"))
				disk.FailAt(fsys.OpSyncDir, 2, syscall.EIO)
				require.ErrorIs(t, disk.SyncDir("."), syscall.EIO)
			},
			want: []string{"x=a", ""},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			disk, x := synced(t, c.was)
			disk.SetModel(c.model)
			c.do(t, disk, x)
			slices.Sort(c.want)
			require.Equal(t, c.want, outcomes(t, disk))
		})
	}
}

// TestEvict: after a failed sync a program may see what is on the disk, and nothing else is
// left of a crash then.
func TestEvict(t *testing.T) {
	seen := map[string]bool{}
	o := fsys.NewOutcomes(0)
	for o.Next() {
		disk, x := synced(t, "aaa")
		_, err := x.WriteAt([]byte("bbb"), 0)
		require.NoError(t, err)
		disk.Evict(func(int) int { panic("all is dirty") })
		disk.FailAt(fsys.OpSync, 2, syscall.EIO)
		require.Error(t, x.Sync())
		require.Equal(t, "x=bbb", state(t, disk, "."))
		disk.Evict(o.Choose)
		seen[state(t, disk, ".")] = true
		require.Equal(t, []string{state(t, disk, ".")}, outcomes(t, disk))
	}
	require.Equal(t, map[string]bool{"x=aaa": true, "x=bbb": true, "x=baa": true, "x=bba": true}, seen)
}

func TestOutcomes(t *testing.T) {
	var all []string
	three := func(choose func(int) int) string {
		a := choose(2)
		if a == 0 {
			return fmt.Sprint(a, choose(3))
		}
		return fmt.Sprint(a, choose(2), choose(2))
	}
	o := fsys.NewOutcomes(0)
	for o.Next() {
		all = append(all, three(o.Choose))
	}
	require.Equal(t, []string{"0 0", "0 1", "0 2", "1 0 0", "1 0 1", "1 1 0", "1 1 1"}, all)
	require.Equal(t, 7, o.Count())
	require.True(t, o.Complete())
	require.False(t, o.Next())
	for bound := 1; bound <= 8; bound++ {
		o := fsys.NewOutcomes(bound)
		n := 0
		for o.Next() {
			require.Equal(t, all[n], three(o.Choose))
			n++
		}
		require.Equal(t, min(bound, 7), n)
		require.Equal(t, n, o.Count())
		require.Equal(t, bound >= 7, o.Complete())
	}
	o = fsys.NewOutcomes(0)
	require.True(t, o.Next())
	require.False(t, o.Next(), "without a choice there is one outcome")
	require.True(t, o.Complete())
}

// TestRandom: the same seed leaves the same, and in time every outcome comes.
func TestRandom(t *testing.T) {
	disk, x := synced(t, "aaaa")
	_, err := x.WriteAt([]byte("bbbbb"), 0)
	require.NoError(t, err)
	want := outcomes(t, disk)
	seen := map[string]bool{}
	choose, again := fsys.Random(1), fsys.Random(1)
	for range 1000 {
		s := state(t, disk.Crash(choose), ".")
		require.Equal(t, s, state(t, disk.Crash(again), "."))
		seen[s] = true
	}
	require.Len(t, seen, len(want))
}
