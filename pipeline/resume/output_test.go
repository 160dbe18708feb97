package resume

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/rosaline-go/rosaline/internal/fsys"
)

// The files of these tests.
const (
	outputName  = "run/out"
	outputOlder = "an older output, from before the run"
)

// testBuffer is the buffer of the runs that crash, so that one of their pieces does not fit.
const testBuffer = 1400

// pieceSizes are those of the pieces of an output: none, some of more than a block of the disk,
// and one of more than the buffer.
var pieceSizes = []int{7, 700, 0, 1, 2100, 512, 300, 640}

// firstPieces are the first n pieces of an output, in which no two blocks are the same.
func firstPieces(n int) (out [][]byte) {
	at := 0
	for _, size := range pieceSizes[:n] {
		var p []byte
		for len(p) < size {
			p = fmt.Appendf(p, "%d,", at+len(p))
		}
		out = append(out, p[:size])
		at += size
	}
	return out
}

// contentOf returns what is in a file, nil if there is none.
func contentOf(d fsys.FS, name string) ([]byte, error) {
	f, err := d.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	b, err := readAll(f)
	return append([]byte{}, b...), errors.Join(err, f.Close())
}

// textAt is what is in a file as a string, nil if there is none.
func textAt(t testing.TB, d fsys.FS, name string) any {
	b, err := contentOf(d, name)
	require.NoError(t, err)
	if b == nil {
		return nil
	}
	return string(b)
}

// onBoth calls f with a disk and with the files of the system, and the name of an output there.
func onBoth(t *testing.T, f func(t *testing.T, d fsys.FS, name string)) {
	t.Run("disk", func(t *testing.T) { f(t, newDisk(t), outputName) })
	t.Run("system", func(t *testing.T) { f(t, fsys.OS{}, filepath.Join(t.TempDir(), "out")) })
}

func putFile(t testing.TB, d fsys.FS, name string, content any) {
	if content == nil {
		return
	}
	f, err := d.Create(name)
	require.NoError(t, err)
	_, err = f.Append([]byte(content.(string)))
	require.NoError(t, errors.Join(err, f.Close()))
}

// TestOpenOutput: what may be there when an output is opened, and what is made of it.
func TestOpenOutput(t *testing.T) {
	none := any(nil)
	for _, c := range []struct {
		name               string
		committed          int64
		partial, older     any
		opened, olderAfter any // with opened nil it is an error, which changes nothing
	}{
		{"nothing committed, nothing there", 0, none, none, "", none},
		{"nothing committed, an older output", 0, none, "older", "", "older"},
		{"nothing committed, a left over", 0, "left over", none, "", none},
		{"nothing committed, a left over and an older output", 0, "left over", "older", "", "older"},
		{"nothing committed, an empty left over", 0, "", "", "", ""},
		{"as it was committed", 5, "abcde", none, "abcde", none},
		{"more than was committed", 5, "abcdefgh", none, "abcde", none},
		{"as it was committed, an older output", 5, "abcde", "older output", "abcde", "older output"},
		{"more than was committed, a short older output", 5, "abcdefgh", "old", "abcde", "old"},
		{"finished as it was committed", 5, none, "abcde", "abcde", none},
		{"finished with more than was committed", 5, none, "abcdefgh", "abcde", none},
		{"gone", 5, none, none, none, none},
		{"too short", 5, "abcd", none, none, none},
		{"empty", 5, "", none, none, none},
		{"finished too short", 5, none, "abcd", none, none},
		{"too short, an older output that is not", 5, "abcd", "older output", none, none},
		{"a commit of less than nothing", -1, "abcd", "abcd", none, none},
	} {
		t.Run(c.name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, d fsys.FS, name string) {
				partial := name + PartialSuffix
				putFile(t, d, partial, c.partial)
				putFile(t, d, name, c.older)
				o, err := OpenOutput(name, c.committed, WithFS(d))
				if c.opened == nil {
					require.ErrorIs(t, err, ErrOutput)
					require.ErrorContains(t, err, name)
					require.Equal(t, c.partial, textAt(t, d, partial))
					require.Equal(t, c.older, textAt(t, d, name))
					return
				}
				require.NoError(t, err)
				require.Equal(t, c.opened, textAt(t, d, partial))
				require.Equal(t, c.olderAfter, textAt(t, d, name))
				require.Equal(t, c.committed, o.Size())
				if disk, ok := d.(*fsys.Disk); ok {
					lasts := disk.Crash(func(int) int { return 0 })
					require.Equal(t, c.opened, textAt(t, lasts, partial))
					require.Equal(t, c.olderAfter == nil, textAt(t, lasts, name) == nil)
				}
				_, err = o.Write([]byte("xyz"))
				require.NoError(t, err)
				require.NoError(t, o.Finish())
				require.Equal(t, c.opened.(string)+"xyz", textAt(t, d, name))
				require.Nil(t, textAt(t, d, partial))
				require.NoError(t, CheckOutput(name, c.committed+3, WithFS(d)))
			})
		})
	}
}

// TestOpenOutputTells: an error says what is there, what should be and where.
func TestOpenOutputTells(t *testing.T) {
	d := newDisk(t)
	_, err := OpenOutput(outputName, 5, WithFS(d))
	require.EqualError(t, err, "resume: output run/out: resume: not the output that was committed: it is not there any more, 5 bytes were committed; put it back, or remove it and start anew with an empty folder for the state")
	putFile(t, d, outputName, "abcd")
	_, err = OpenOutput(outputName, 5, WithFS(d))
	require.ErrorContains(t, err, "run/out has 4 bytes, 5 were committed")
	putFile(t, d, outputName+PartialSuffix, "abc")
	_, err = OpenOutput(outputName, 5, WithFS(d))
	require.ErrorContains(t, err, "run/out.partial has 3 bytes, 5 were committed")
}

// TestOpenOutputOverAFolder: a folder in the place of an output is an error, and stays there.
func TestOpenOutputOverAFolder(t *testing.T) {
	for _, suffix := range []string{"", PartialSuffix} {
		for _, committed := range []int64{0, 5} {
			if suffix == "" && committed == 0 {
				continue // Finish sees it
			}
			onBoth(t, func(t *testing.T, d fsys.FS, name string) {
				folder := filepath.Join(filepath.Dir(name), "out"+suffix)
				require.NoError(t, d.MakeDir(folder))
				_, err := OpenOutput(name, committed, WithFS(d))
				require.Error(t, err)
				names, err := d.List(filepath.Dir(name))
				require.NoError(t, err)
				require.Equal(t, []string{"out" + suffix}, names)
			})
		}
	}
	onBoth(t, func(t *testing.T, d fsys.FS, name string) {
		require.NoError(t, d.MakeDir(name))
		require.Error(t, CheckOutput(name, 4096, WithFS(d)))
		o, err := OpenOutput(name, 0, WithFS(d))
		require.NoError(t, err)
		require.Error(t, o.Finish())
		require.Error(t, o.Close())
		names, err := d.List(filepath.Dir(name))
		require.NoError(t, err)
		require.Equal(t, []string{"out", "out.partial"}, names)
	})
}

// TestOutputAgainstBytes: whatever the sizes of what is written, the file has those bytes.
func TestOutputAgainstBytes(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		var files fsys.FS = fsys.OS{}
		name := filepath.Join(dir, "out")
		if rapid.Bool().Draw(t, "disk") {
			d := fsys.NewDisk()
			files, name = d, "out"
		}
		var want []byte
		o, err := OpenOutput(name, 0, WithFS(files))
		require.NoError(t, err)
		if rapid.IntRange(0, 9).Draw(t, "small buffer") < 9 {
			o.buf = make([]byte, 0, rapid.IntRange(1, 500).Draw(t, "buffer"))
		}
		for range rapid.IntRange(0, 20).Draw(t, "writes") {
			n := rapid.OneOf(rapid.IntRange(0, 700), rapid.Just(cap(o.buf)), rapid.Just(cap(o.buf)+1), rapid.Just(cap(o.buf)-1)).Draw(t, "size")
			p := bytes.Repeat([]byte{byte(len(want))}, n)
			k, err := o.Write(p)
			require.NoError(t, err)
			require.Equal(t, n, k)
			want = append(want, p...)
			clear(p) // it is the caller's
			require.EqualValues(t, len(want), o.Size())
			switch rapid.IntRange(0, 5).Draw(t, "then") {
			case 0:
				size, err := o.Flush()
				require.NoError(t, err)
				require.EqualValues(t, len(want), size)
				b, err := contentOf(files, name+PartialSuffix)
				require.NoError(t, err)
				require.True(t, bytes.Equal(want, b))
			case 1:
				size, err := o.Sync()
				require.NoError(t, err)
				require.EqualValues(t, len(want), size)
				if d, ok := files.(*fsys.Disk); ok {
					b, err := contentOf(d.Crash(func(int) int { return 0 }), name+PartialSuffix)
					require.NoError(t, err)
					require.True(t, bytes.Equal(want, b))
				}
			case 2: // stopped and opened again, behind what is lost
				size, err := o.Sync()
				require.NoError(t, err)
				_, err = o.Write([]byte("lost"))
				require.NoError(t, err)
				buffer := o.buf
				require.NoError(t, o.Close())
				o, err = OpenOutput(name, size, WithFS(files))
				require.NoError(t, err)
				o.buf = buffer[:0]
			}
		}
		require.NoError(t, o.Finish())
		b, err := contentOf(files, name)
		require.NoError(t, err)
		require.True(t, bytes.Equal(want, b))
		require.NoError(t, CheckOutput(name, int64(len(want)), WithFS(files)))
	})
}

// TestOutputOperations: how many operations an output takes.
func TestOutputOperations(t *testing.T) {
	d := newDisk(t)
	counts := func(f func()) (appends, syncs, all int) {
		a, s, n := d.Ops(fsys.OpAppend), d.Ops(fsys.OpSync), d.Ops(fsys.OpAny)
		f()
		return d.Ops(fsys.OpAppend) - a, d.Ops(fsys.OpSync) - s, d.Ops(fsys.OpAny) - n
	}
	is := func(appends, syncs, all int, f func()) {
		a, s, n := counts(f)
		require.Equal(t, []int{appends, syncs, all}, []int{a, s, n})
	}
	var o *Output
	sync := func() {
		_, err := o.Sync()
		require.NoError(t, err)
	}
	write := func(n int) {
		_, err := o.Write(make([]byte, n))
		require.NoError(t, err)
	}
	is(0, 1, 4, func() { // open twice, sync, sync of the directory
		var err error
		o, err = OpenOutput(outputName, 0, WithFS(d))
		require.NoError(t, err)
	})
	is(0, 0, 0, sync)
	is(0, 0, 0, func() { write(100) })
	is(1, 1, 2, sync)
	is(0, 0, 0, sync)
	is(0, 0, 0, func() { write(0); sync() })
	is(0, 0, 0, func() { write(256<<10 - 1); write(1) }) // as much as is held back
	is(1, 0, 1, func() { write(1) })
	is(2, 0, 2, func() { write(1 << 20) })
	is(0, 1, 1, sync) // all was written, and not synced
	a, _, _ := counts(func() {
		for range 1 << 20 / 64 {
			write(64)
		}
	})
	require.LessOrEqual(t, a, 4)
	is(1, 1, 2, sync)
	is(0, 1, 3, func() { require.NoError(t, o.Finish()) })
}

// TestOutputClosed: what is held back is not written, and all calls say that it is closed.
func TestOutputClosed(t *testing.T) {
	closed := func(t *testing.T, o *Output) {
		_, err := o.Write([]byte("x"))
		require.ErrorIs(t, err, ErrClosed)
		_, err = o.Flush()
		require.ErrorIs(t, err, ErrClosed)
		_, err = o.Sync()
		require.ErrorIs(t, err, ErrClosed)
		require.ErrorIs(t, o.Finish(), ErrClosed)
		require.NoError(t, o.Close())
		require.NoError(t, o.Close())
	}
	onBoth(t, func(t *testing.T, d fsys.FS, name string) {
		o, err := OpenOutput(name, 0, WithFS(d))
		require.NoError(t, err)
		_, err = o.Write([]byte("abc"))
		require.NoError(t, err)
		_, err = o.Sync()
		require.NoError(t, err)
		_, err = o.Write([]byte("defg"))
		require.NoError(t, err)
		require.NoError(t, o.Close())
		closed(t, o)
		require.Equal(t, "abc", textAt(t, d, name+PartialSuffix))
		require.Nil(t, textAt(t, d, name))

		o, err = OpenOutput(name, 3, WithFS(d))
		require.NoError(t, err)
		require.NoError(t, o.Finish())
		closed(t, o)
		require.Equal(t, "abc", textAt(t, d, name))
		require.Nil(t, textAt(t, d, name+PartialSuffix))
	})
}

// TestOutputFailureStays: after a write or a sync that failed nothing is believed any more.
func TestOutputFailureStays(t *testing.T) {
	for _, op := range []fsys.Op{fsys.OpAppend, fsys.OpSync, fsys.OpRename, fsys.OpSyncDir} {
		d := newDisk(t)
		o, err := OpenOutput(outputName, 0, WithFS(d))
		require.NoError(t, err)
		d.FailAt(op, d.Ops(op)+1, syscall.EIO)
		_, err = o.Write([]byte("abc"))
		require.NoError(t, err)
		if op == fsys.OpAppend || op == fsys.OpSync {
			_, err = o.Sync()
		} else {
			err = o.Finish()
		}
		require.ErrorIs(t, err, syscall.EIO)
		require.ErrorContains(t, err, outputName)
		n := d.Ops(fsys.OpAny)
		_, again := o.Write(make([]byte, 1<<20))
		require.Equal(t, err, again)
		_, again = o.Flush()
		require.Equal(t, err, again)
		_, again = o.Sync()
		require.Equal(t, err, again)
		require.Equal(t, err, o.Finish())
		require.Equal(t, n, d.Ops(fsys.OpAny), "%v", op)
		require.ErrorIs(t, o.Close(), syscall.EIO)
		require.NoError(t, o.Close())
		require.ErrorIs(t, o.Finish(), ErrClosed)
	}
}

// TestOutputSyncsWhileItIsWritten: one goroutine writes, another syncs, and each size that a sync
// returns is on the disk.
func TestOutputSyncsWhileItIsWritten(t *testing.T) {
	onBoth(t, func(t *testing.T, d fsys.FS, name string) {
		o, err := OpenOutput(name, 0, WithFS(d))
		require.NoError(t, err)
		o.buf = make([]byte, 0, 1000)
		var want []byte
		flushed := make(chan int64)
		var wg sync.WaitGroup
		wg.Go(func() {
			last := int64(0)
			for size := range flushed {
				synced, err := o.Sync()
				if err != nil || synced < size || synced < last {
					t.Errorf("sync of %d after %d bytes, before that %d: %v", synced, size, last, err)
				}
				if disk, ok := d.(*fsys.Disk); ok {
					b, err := contentOf(disk.Crash(func(int) int { return 0 }), name+PartialSuffix)
					if err != nil || int64(len(b)) < synced {
						t.Errorf("%d bytes last instead of %d: %v", len(b), synced, err)
					}
				}
				last = synced
			}
		})
		for i := range 2000 {
			p := fmt.Appendf(nil, "line %d of the output\n", i)
			_, err := o.Write(p)
			require.NoError(t, err)
			want = append(want, p...)
			if i%20 == 19 {
				size, err := o.Flush()
				require.NoError(t, err)
				require.EqualValues(t, len(want), size)
				flushed <- size
			}
		}
		close(flushed)
		wg.Wait()
		require.NoError(t, o.Finish())
		require.Equal(t, string(want), textAt(t, d, name))
	})
}

// slowSync is files of which the next sync waits until end and returns err, while those after it
// do as ever: so Linux tells one sync of a failure, and no other.
type slowSync struct {
	fsys.FS
	err        error
	begun, end chan struct{}
	next       atomic.Bool
}

func newSlowSync(d fsys.FS, err error) *slowSync {
	return &slowSync{FS: d, err: err, begun: make(chan struct{}), end: make(chan struct{})}
}

func (s *slowSync) OpenWrite(name string) (fsys.File, error) {
	f, err := s.FS.OpenWrite(name)
	return slowFile{f, s}, err
}

type slowFile struct {
	fsys.File
	s *slowSync
}

func (f slowFile) Sync() error {
	slow := f.s.next.CompareAndSwap(true, false)
	if !slow || f.s.err == nil {
		if err := f.File.Sync(); err != nil {
			return err
		}
	}
	if !slow {
		return nil
	}
	close(f.s.begun)
	<-f.s.end
	return f.s.err
}

// TestOutputIsWrittenDuringASync: what is written while a sync is under way waits for nothing,
// and is for the next one.
func TestOutputIsWrittenDuringASync(t *testing.T) {
	d := newDisk(t)
	s := newSlowSync(d, nil)
	o, err := OpenOutput(outputName, 0, WithFS(s))
	require.NoError(t, err)
	write := func(p string) {
		_, err := o.Write([]byte(p))
		require.NoError(t, err)
	}
	lasts := func() any { return textAt(t, d.Crash(func(int) int { return 0 }), outputName+PartialSuffix) }
	write("abc")
	s.next.Store(true)
	var wg sync.WaitGroup
	var synced int64
	wg.Go(func() { synced, err = o.Sync() })
	<-s.begun
	write("def")
	size, flushed := o.Flush()
	require.NoError(t, flushed)
	require.EqualValues(t, 6, size)
	require.EqualValues(t, 6, o.Size())
	close(s.end)
	wg.Wait()
	require.NoError(t, err)
	require.EqualValues(t, 3, synced)
	require.Equal(t, "abc", lasts())
	synced, err = o.Sync()
	require.NoError(t, err)
	require.EqualValues(t, 6, synced)
	require.Equal(t, "abcdef", lasts())
	require.NoError(t, o.Close())
}

// TestOutputFinishesBehindASync: an output of which a sync under way fails is not finished.
func TestOutputFinishesBehindASync(t *testing.T) {
	for range 200 {
		d := newDisk(t)
		s := newSlowSync(d, syscall.EIO)
		o, err := OpenOutput(outputName, 0, WithFS(s))
		require.NoError(t, err)
		_, err = o.Write([]byte("abc"))
		require.NoError(t, err)
		s.next.Store(true)
		var wg sync.WaitGroup
		var synced, finished error
		wg.Go(func() { _, synced = o.Sync() })
		<-s.begun
		wg.Go(func() { finished = o.Finish() })
		for range 20 {
			runtime.Gosched() // Finish may come so far as to sync as well
		}
		close(s.end)
		wg.Wait()
		require.ErrorIs(t, synced, syscall.EIO)
		require.ErrorIs(t, finished, syscall.EIO)
		require.Nil(t, textAt(t, d, outputName))
	}
}

// TestCheckOutput: a finished output must be there with its size.
func TestCheckOutput(t *testing.T) {
	onBoth(t, func(t *testing.T, d fsys.FS, name string) {
		err := CheckOutput(name, 0, WithFS(d))
		require.ErrorIs(t, err, ErrOutput)
		require.ErrorContains(t, err, name+" is not there any more")
		putFile(t, d, name+PartialSuffix, "abc")
		require.ErrorIs(t, CheckOutput(name, 3, WithFS(d)), ErrOutput)
		putFile(t, d, name, "abc")
		require.NoError(t, CheckOutput(name, 3, WithFS(d)))
		for _, size := range []int64{-1, 0, 2, 4} {
			err := CheckOutput(name, size, WithFS(d))
			require.ErrorIs(t, err, ErrOutput)
			require.ErrorContains(t, err, fmt.Sprintf("%s has 3 bytes, it had %d", name, size))
		}
	})
	d := newDisk(t)
	putFile(t, d, outputName, "abc")
	d.FailAt(fsys.OpOpen, d.Ops(fsys.OpOpen)+1, syscall.EIO)
	err := CheckOutput(outputName, 3, WithFS(d))
	require.ErrorIs(t, err, syscall.EIO)
	require.NotErrorIs(t, err, ErrOutput)
}

// TestRemoveOutput: what was removed is gone for good, by whichever call.
func TestRemoveOutput(t *testing.T) {
	onBoth(t, func(t *testing.T, d fsys.FS, name string) {
		for _, c := range [][2]any{{nil, nil}, {"a", nil}, {nil, "b"}, {"a", "b"}} {
			putFile(t, d, name, c[0])
			putFile(t, d, name+PartialSuffix, c[1])
			putFile(t, d, name+".other", "other")
			require.NoError(t, d.SyncDir(filepath.Dir(name)))
			require.NoError(t, RemoveOutput(name, WithFS(d)))
			names, err := d.List(filepath.Dir(name))
			require.NoError(t, err)
			require.Equal(t, []string{"out.other"}, names)
			require.NoError(t, d.Remove(name+".other"))
		}
		require.NoError(t, RemoveOutput(filepath.Join(name, "no folder"), WithFS(d)))
	})
	begin := func() *fsys.Disk {
		d := newDisk(t)
		writeFile(t, d, outputName, []byte("a"))
		writeFile(t, d, outputName+PartialSuffix, []byte("b"))
		return d
	}
	d := begin()
	start := d.Ops(fsys.OpAny)
	require.NoError(t, RemoveOutput(outputName, WithFS(d)))
	end := d.Ops(fsys.OpAny)
	require.Equal(t, 3, end-start)
	for n := start; n <= end; n++ {
		for _, model := range models {
			stopped, failed := begin(), begin()
			stopped.CrashAfter(n)
			failed.FailAt(fsys.OpAny, n+1, syscall.EIO)
			if err := RemoveOutput(outputName, WithFS(stopped)); n < end {
				require.ErrorIs(t, err, fsys.ErrCrashed)
				require.ErrorIs(t, RemoveOutput(outputName, WithFS(failed)), syscall.EIO)
			}
			stopped.SetModel(model)
			check := func(d *fsys.Disk) {
				require.NoError(t, RemoveOutput(outputName, WithFS(d)))
				for o := fsys.NewOutcomes(0); o.Next(); {
					names, err := d.Crash(o.Choose).List("run")
					require.NoError(t, err)
					require.Empty(t, names, "stopped after %d operations", n-start)
				}
			}
			for o := fsys.NewOutcomes(0); o.Next(); {
				check(stopped.Crash(o.Choose))
			}
			check(stopped.Kill())
			check(failed)
		}
	}
}

// TestOutputThroughTheSystem: the buffer of 256 KiB and files of the system, stopped behind each
// commit.
func TestOutputThroughTheSystem(t *testing.T) {
	name := filepath.Join(t.TempDir(), "out")
	rng := rand.New(rand.NewPCG(1, 2))
	var want []byte
	committed := int64(0)
	for _, n := range []int{1, 100_000, 262_144, 262_145, 0, 700_000, 5, 262_143} {
		o, err := OpenOutput(name, committed)
		require.NoError(t, err)
		p := make([]byte, n)
		for i := range p {
			p[i] = byte(rng.Uint32())
		}
		for i := 0; i < n; {
			k := min(1+rng.IntN(300_000), n-i)
			_, err := o.Write(p[i : i+k])
			require.NoError(t, err)
			i += k
		}
		want = append(want, p...)
		committed, err = o.Sync()
		require.NoError(t, err)
		require.EqualValues(t, len(want), committed)
		_, err = o.Write(make([]byte, rng.IntN(600_000)))
		require.NoError(t, err)
		require.NoError(t, o.Close())
		_, err = os.Stat(name)
		require.ErrorIs(t, err, fs.ErrNotExist)
	}
	for range 2 { // finished, and opened again as if that was not committed
		o, err := OpenOutput(name, committed)
		require.NoError(t, err)
		require.NoError(t, o.Finish())
		require.NoError(t, CheckOutput(name, committed))
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		require.True(t, bytes.Equal(want, b))
	}
}
