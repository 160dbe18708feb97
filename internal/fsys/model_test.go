package fsys_test

import (
	"bytes"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/rosaline-go/rosaline/internal/fsys"
)

// plain is what a file has, and what each of its bytes and its size may be after a crash.
type plain struct {
	data    []byte
	allowed [][]byte     // the values that each byte may have, the first is synced
	sizes   [2]int       // the least and the most
	written map[int]bool // blocks since the last sync, failed or not
	resized bool

	disk, sys fsys.File // open
}

func newPlain() *plain { return &plain{written: map[int]bool{}} }

// set gives a byte another value.
func (p *plain) set(i int, b byte) {
	p.data[i] = b
	p.written[i/fsys.BlockSize] = true
	if !bytes.Contains(p.allowed[i], []byte{b}) {
		p.allowed[i] = append(p.allowed[i], b)
	}
}

func (p *plain) resize(size int) {
	if size == len(p.data) {
		return
	}
	for i := size; i < len(p.data); i++ {
		p.set(i, 0)
	}
	if size < len(p.data) {
		// All of the block is written, and the whole of those that are cut away.
		for i := size / fsys.BlockSize; i*fsys.BlockSize < len(p.data); i++ {
			p.written[i] = true
		}
	}
	for len(p.allowed) < size {
		p.allowed = append(p.allowed, []byte{0})
	}
	p.data = append(p.data[:min(size, len(p.data))], make([]byte, max(0, size-len(p.data)))...)
	p.sizes = [2]int{min(p.sizes[0], size), max(p.sizes[1], size)}
	p.resized = true
}

func (p *plain) write(off int, text []byte) {
	if len(text) == 0 {
		return
	}
	if end := off + len(text); end > len(p.data) {
		p.resize(end)
	}
	for i, b := range text {
		p.set(off+i, b)
	}
}

func (p *plain) sync() {
	for i := range p.allowed {
		if p.written[i/fsys.BlockSize] {
			p.allowed[i] = []byte{0}
			if i < len(p.data) {
				p.allowed[i][0] = p.data[i]
			}
		}
	}
	if p.resized {
		p.sizes = [2]int{len(p.data), len(p.data)}
	}
	p.forget()
}

// forget is a sync that failed.
func (p *plain) forget() { p.written, p.resized = map[int]bool{}, false }

// mayBe tells whether a file may have a text after a crash.
func (p *plain) mayBe(text []byte) bool {
	if len(text) < p.sizes[0] || len(text) > p.sizes[1] {
		return false
	}
	for i, b := range text {
		if !bytes.Contains(p.allowed[i], []byte{b}) {
			return false
		}
	}
	return true
}

// script does what its bytes say on a disk, perhaps on the system's files, and in a plain model
// of both, and compares what they have; then it crashes the disk and compares what may be left.
func script(t require.TestingT, todo []byte, sys fsys.FS, dir string, model fsys.Model) {
	disk := fsys.NewDisk()
	disk.SetModel(model)
	names := map[string]*plain{}
	past := []map[string]*plain{{}} // the names since the directory was synced
	step := func() { past = append(past, maps.Clone(names)) }
	next := func() int {
		if len(todo) == 0 {
			return 0
		}
		b := todo[0]
		todo = todo[1:]
		return int(b)
	}
	name := func() string { return string(rune('a' + next()%3)) }
	place := func() int { return next() * 11 % 1600 }
	fill := byte(0)
	text := func() []byte {
		fill = fill%250 + 1
		return bytes.Repeat([]byte{fill}, next()*next()%1200)
	}
	// each does something on all systems, which must agree whether it can be done.
	each := func(do func(sys fsys.FS, dir string) error) bool {
		err := do(disk, "")
		if sys != nil {
			require.Equal(t, err == nil, do(sys, dir) == nil)
		}
		return err == nil
	}
	files := func(p *plain, do func(f fsys.File) error) {
		require.NoError(t, do(p.disk))
		if p.sys != nil {
			require.NoError(t, do(p.sys))
		}
	}
	defer func() {
		for _, p := range names {
			if p.sys != nil {
				_ = p.sys.Close()
			}
		}
	}()
	gone := func(p *plain) {
		if p != nil {
			files(p, fsys.File.Close)
		}
	}
	for len(todo) > 0 {
		op, n := next()%13, name()
		p := names[n]
		if p == nil && op > 2 {
			continue
		}
		switch op {
		case 0, 1: // make or open
			made := newPlain()
			ok := each(func(sys fsys.FS, dir string) error {
				open := sys.OpenWrite
				if op == 1 {
					open = sys.Create
				}
				f, err := open(filepath.Join(dir, n))
				if err != nil {
					return err
				}
				if sys == fsys.FS(disk) {
					made.disk = f
				} else {
					made.sys = f
				}
				return nil
			})
			require.Equal(t, op == 0 || p == nil, ok)
			switch {
			case p == nil:
				names[n] = made
				step()
			case ok:
				gone(made)
			}
		case 2:
			require.True(t, each(func(sys fsys.FS, dir string) error { return sys.SyncDir(dir + ".") }))
			past = []map[string]*plain{maps.Clone(names)}
		case 3, 4:
			off, b := place(), text()
			files(p, func(f fsys.File) error { _, err := f.WriteAt(b, int64(off)); return err })
			p.write(off, b)
		case 5, 6:
			b := text()
			files(p, func(f fsys.File) error { _, err := f.Append(b); return err })
			p.write(len(p.data), b)
		case 7:
			size := place()
			files(p, func(f fsys.File) error { return f.Truncate(int64(size)) })
			p.resize(size)
		case 8, 9:
			files(p, fsys.File.Sync)
			p.sync()
		case 10:
			to := name()
			require.True(t, each(func(sys fsys.FS, dir string) error {
				return sys.Rename(filepath.Join(dir, n), filepath.Join(dir, to))
			}))
			if to != n {
				gone(names[to])
				delete(names, n)
				names[to] = p
				step()
			}
		case 11:
			gone(p)
			require.True(t, each(func(sys fsys.FS, dir string) error { return sys.Remove(filepath.Join(dir, n)) }))
			delete(names, n)
			step()
		case 12:
			disk.FailAt(fsys.OpSync, disk.Ops(fsys.OpSync)+1, syscall.EIO)
			require.ErrorIs(t, p.disk.Sync(), syscall.EIO)
			p.forget()
		}
		if p = names[n]; p != nil {
			files(p, func(f fsys.File) error {
				size, err := f.Size()
				require.NoError(t, err)
				require.EqualValues(t, len(p.data), size)
				b := make([]byte, len(p.data)+1)
				k, err := f.ReadAt(b, 0)
				require.Equal(t, io.EOF, err)
				require.True(t, bytes.Equal(p.data, b[:k]))
				return nil
			})
		}
	}
	require.True(t, each(func(sys fsys.FS, dir string) error {
		got, err := sys.List(dir + ".")
		require.Equal(t, slices.Sorted(maps.Keys(names)), append([]string(nil), got...))
		return err
	}))

	killed := contents(t, disk.Kill())
	require.Len(t, killed, len(names))
	for n, p := range names {
		require.True(t, bytes.Equal(p.data, killed[n]))
	}
	o := fsys.NewOutcomes(30)
	for o.Next() {
		legal(t, contents(t, disk.Crash(o.Choose)), past, model)
	}
	choose := fsys.Random(uint64(fill))
	for range 30 {
		legal(t, contents(t, disk.Crash(choose)), past, model)
		legal(t, contents(t, disk.Kill().Crash(choose)), past, model)
	}
}

// contents returns what each file of a disk has, and then lengthens it.
func contents(t require.TestingT, disk *fsys.Disk) map[string][]byte {
	names, err := disk.List("/")
	require.NoError(t, err)
	all := map[string][]byte{}
	for _, n := range names {
		all[n] = []byte(whole(t, disk, n))
		f, err := disk.OpenWrite(n)
		require.NoError(t, err)
		require.NoError(t, f.Truncate(int64(len(all[n])+fsys.BlockSize)))
		require.NoError(t, f.Close())
		longer := []byte(whole(t, disk, n))
		require.True(t, bytes.Equal(append(all[n], make([]byte, fsys.BlockSize)...), longer), "nothing lies behind the end")
	}
	return all
}

// legal requires that files may be what a crash left.
func legal(t require.TestingT, left map[string][]byte, past []map[string]*plain, model fsys.Model) {
	fits := func(n string, p *plain) bool {
		text, there := left[n]
		return there == (p != nil) && (p == nil || p.mayBe(text))
	}
	all := []string{"a", "b", "c"}
	if model.AnyNames {
		for _, n := range all {
			require.True(t, slices.ContainsFunc(past, func(names map[string]*plain) bool { return fits(n, names[n]) }) ||
				left[n] == nil, "%s is %v", n, left[n])
		}
		return
	}
	require.True(t, slices.ContainsFunc(past, func(names map[string]*plain) bool {
		for _, n := range all {
			if !fits(n, names[n]) {
				return false
			}
		}
		return true
	}), "%v of %v", left, past)
}

// scripts generates scripts whose operations are about as often each as they should be: mostly
// what writes, on files that are there.
func scripts() *rapid.Generator[[]byte] {
	ops := rapid.SampledFrom([]byte{0, 1, 2, 3, 3, 3, 4, 5, 5, 6, 7, 7, 8, 9, 10, 11, 12})
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	arguments := rapid.SliceOfN(rapid.SampledFrom(all), 4, 4)
	// An operation takes as many of the arguments as it needs: the rest begins the next one.
	step := rapid.Custom(func(t *rapid.T) []byte {
		op := ops.Draw(t, "op")
		takes := map[byte]int{3: 4, 4: 4, 5: 3, 6: 3, 7: 2, 10: 2}[op]
		return append([]byte{op}, arguments.Draw(t, "arguments")[:max(1, takes)]...)
	})
	return rapid.Custom(func(t *rapid.T) []byte {
		todo := []byte{0, 0, 0, 1, 0, 2}
		return append(todo, slices.Concat(rapid.SliceOfN(step, 0, 30).Draw(t, "steps")...)...)
	})
}

func TestScripts(t *testing.T) {
	bytesOf := scripts()
	t.Run("Disk", rapid.MakeCheck(func(t *rapid.T) {
		model := fsys.Model{AnyNames: rapid.Bool().Draw(t, "any names"), AnyCut: rapid.Bool().Draw(t, "any cut")}
		script(t, bytesOf.Draw(t, "script"), nil, "", model)
	}))
	t.Run("OS", func(t *testing.T) {
		if runtime.GOOS == "windows" {
			t.Skip("there a file that is open keeps its name")
		}
		rapid.Check(t, func(rt *rapid.T) {
			dir, err := os.MkdirTemp(t.TempDir(), "")
			require.NoError(rt, err)
			script(rt, bytesOf.Draw(rt, "script"), fsys.OS{}, dir+string(filepath.Separator), fsys.Model{})
		})
	})
}

func FuzzScript(f *testing.F) {
	f.Add([]byte{1, 0, 5, 0, 30, 30, 8, 0, 2, 0, 3, 0, 20, 40, 40, 7, 0, 9, 10, 0, 1})
	f.Add([]byte{0, 1, 5, 1, 40, 40, 8, 1, 3, 1, 10, 60, 60, 12, 1, 8, 1, 7, 1, 3, 6, 1, 9, 9, 11, 1})
	f.Fuzz(func(t *testing.T, todo []byte) {
		for _, model := range []fsys.Model{{}, {AnyNames: true, AnyCut: true}} {
			script(t, todo[:min(len(todo), 500)], nil, "", model)
		}
	})
}
