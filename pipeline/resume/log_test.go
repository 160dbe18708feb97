package resume

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/rosaline-go/rosaline/internal/fsys"
	"github.com/rosaline-go/rosaline/pipeline/text"
)

// manyHashes are n different ones.
func manyHashes(n int) []text.Hash128 {
	out := make([]text.Hash128, n)
	for i := range out {
		out[i] = text.Hash128{Hi: uint64(i) * 0x9e3779b97f4a7c15, Lo: uint64(i) * 0xd1b54a32d192ed03}
	}
	return out
}

// collect returns what a log gives when it is opened.
func collect(name string, committed State, opts ...Option) (*Log, []text.Hash128, error) {
	var out []text.Hash128
	l, err := OpenLog(name, committed, func(h []text.Hash128) error {
		out = append(out, h...)
		return nil
	}, opts...)
	return l, out, err
}

// TestLogAgainstSlice: any appends, compactions and reopenings, with and without the last
// generation, give what a plain slice holds.
func TestLogAgainstSlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := fsys.NewDisk()
		maxFrames := rapid.IntRange(1, 6).Draw(t, "maxFrames")
		opts := []Option{WithFS(d), WithMaxFrames(maxFrames)}
		type commit struct {
			generation uint64
			hashes     int
			state      []byte
		}
		// The commits that the model holds; the last may be uncommitted.
		var model []commit
		mayDrop := false // no slot of a tracker goes back by two
		pool := manyHashes(300)
		total := func() int {
			if len(model) == 0 {
				return 0
			}
			return model[len(model)-1].hashes
		}
		l, _, err := collect("log", State{}, opts...)
		require.NoError(t, err)
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			switch rapid.IntRange(0, 9).Draw(t, "step") {
			default:
				n := rapid.IntRange(0, min(9, len(pool)-total())).Draw(t, "n")
				state := rapid.SliceOfN(rapid.Byte(), 0, 5).Draw(t, "state")
				g := uint64(len(model)) + 2
				require.NoError(t, l.Append(g, pool[total():total()+n], state))
				if len(state) == 0 && len(model) > 0 {
					state = model[len(model)-1].state
				}
				model, mayDrop = append(model, commit{g, total() + n, state}), true
				require.EqualValues(t, total(), l.Count())
			case 8:
				require.NoError(t, l.Compact())
			case 9:
				require.NoError(t, l.Close())
				if mayDrop && rapid.Bool().Draw(t, "drop") {
					model, mayDrop = model[:len(model)-1], false
				}
				s := State{Generation: 1}
				if len(model) > 0 {
					s = State{Generation: model[len(model)-1].generation, Hashes: uint64(total())}
				}
				var got []text.Hash128
				l, got, err = collect("log", s, opts...)
				require.NoError(t, err)
				require.Equal(t, total(), len(got))
				for i, h := range got {
					require.Equal(t, pool[i], h)
				}
				if len(model) > 0 {
					require.True(t, bytes.Equal(model[len(model)-1].state, l.State()))
				}
				size := int64(0)
				f, err := d.Open("log")
				require.NoError(t, err)
				size, err = f.Size()
				require.NoError(t, err)
				require.Equal(t, size, l.Size())
				require.False(t, l.Worn())
				r, err := InspectLog("log", WithFS(d))
				require.NoError(t, err)
				require.True(t, r.Sound(), "%+v", r)
				require.EqualValues(t, total(), r.Hashes)
				require.Equal(t, l.Frames(), r.Frames)
			}
		}
	})
}

// TestLargeAppend: more hashes than a frame holds are several frames of one generation, and
// one cut through them is no half of it.
func TestLargeAppend(t *testing.T) {
	d := newDisk(t)
	hashes := manyHashes(2*frameHashes + 77)
	l, _, err := collect(logName, State{}, WithFS(d))
	require.NoError(t, err)
	require.NoError(t, l.Append(2, hashes[:5], nil))
	require.NoError(t, l.Append(3, hashes[5:], []byte("end")))
	require.Equal(t, 4, l.Frames())
	require.NoError(t, l.Close())
	whole := readFile(t, d, logName)
	require.Len(t, whole, 16+4*40+16*len(hashes)+3)

	for _, at := range []int{len(whole) - 1, len(whole) - 100, 16 + 40 + 5*16 + 40 + 16*frameHashes + 40 + 3, 16 + 40 + 5*16 + 40 + 16*frameHashes, 16 + 40 + 5*16 + 7} {
		writeFile(t, d, logName, whole[:at])
		_, _, err := collect(logName, State{Generation: 3, Hashes: uint64(len(hashes))}, WithFS(d))
		require.ErrorIs(t, err, ErrDamaged)
		require.Equal(t, at, len(readFile(t, d, logName)))
		l, got, err := collect(logName, State{Generation: 2, Hashes: 5}, WithFS(d))
		require.NoError(t, err)
		require.Equal(t, hashes[:5], got)
		require.NoError(t, l.Close())
		require.Equal(t, whole[:16+40+5*16], readFile(t, d, logName))
	}

	writeFile(t, d, logName, whole)
	l, got, err := collect(logName, State{Generation: 3, Hashes: uint64(len(hashes))}, WithFS(d))
	require.NoError(t, err)
	require.True(t, fmt.Sprint(hashes) == fmt.Sprint(got))
	require.NoError(t, l.Append(4, nil, nil))
	require.NoError(t, l.Compact())
	require.Equal(t, 4, l.Frames())
	require.NoError(t, l.Close())
	l, got, err = collect(logName, State{Generation: 3, Hashes: uint64(len(hashes))}, WithFS(d)) // of the slot before
	require.NoError(t, err)
	require.True(t, fmt.Sprint(hashes) == fmt.Sprint(got))
	require.Equal(t, "end", string(l.State()))
	require.NoError(t, l.Close())
}

func TestLogRefuses(t *testing.T) {
	tracker, sound := runTo(t, 3)
	committed := stateAfter(3)
	committed.Generation = 4
	newer, newerFrame, badHeader := bytes.Clone(sound), bytes.Clone(sound), bytes.Clone(sound)
	newer[4] = 2
	sum(newer[:16])
	newerFrame[16+4] = 2
	sum(newerFrame[16:][:40])
	badHeader[9] = 1
	older := committed
	older.Generation, older.Hashes = 1, 0 // of a tracker that was lost and made anew
	more := committed
	more.Hashes++
	less := committed
	less.Hashes--
	luna := append([]byte("LMDL"), make([]byte, 124)...)
	for name, c := range map[string]struct {
		file      []byte
		committed State
		is        error
		says      string
	}{
		"empty":           {nil, committed, ErrShort, "0 bytes"},
		"short":           {sound[:15], committed, ErrShort, "15 bytes"},
		"other":           {bytes.Repeat([]byte("x"), 99), committed, ErrMagic, `"xxxx" at offset 0`},
		"tracker":         {tracker, committed, ErrForeign, "a tracker"},
		"luminamoon":      {luna, committed, ErrForeign, "luminamoon"},
		"newer":           {newer, committed, ErrVersion, "version 2"},
		"newer frame":     {newerFrame, committed, ErrVersion, "newer program"},
		"header":          {badHeader, committed, ErrChecksum, "offset 12"},
		"lost tracker":    {sound, older, ErrGeneration, "do not belong together"},
		"more committed":  {sound, more, ErrDamaged, fmt.Sprintf("offset %d", len(sound))},
		"fewer committed": {sound, less, ErrDamaged, "more hashes than were committed"},
		"no frame":        {sound[:16], committed, ErrDamaged, "at offset 16"},
	} {
		d := newDisk(t)
		writeFile(t, d, logName, c.file)
		l, _, err := collect(logName, c.committed, WithFS(d))
		require.Nil(t, l, name)
		require.ErrorIs(t, err, c.is, name)
		require.ErrorContains(t, err, c.says, name)
		require.ErrorContains(t, err, logName, name)
		require.True(t, bytes.Equal(c.file, readFile(t, d, logName)), name)
	}
	d := newDisk(t)
	_, _, err := collect(logName, committed, WithFS(d))
	require.ErrorIs(t, err, ErrMissing)
	_, err = d.Open(logName)
	require.ErrorIs(t, err, fs.ErrNotExist)

	writeFile(t, d, logName, sound)
	mine := errors.New("mine")
	_, err = OpenLog(logName, committed, func([]text.Hash128) error { return mine }, WithFS(d))
	require.ErrorIs(t, err, mine)

	l, _, err := collect(logName, committed, WithFS(d))
	require.NoError(t, err)
	require.ErrorIs(t, l.Append(4, nil, nil), ErrGeneration)
	require.ErrorIs(t, l.Append(5, nil, make([]byte, MaxState+1)), ErrLimit)
	require.NoError(t, l.Append(5, nil, nil))
	require.NoError(t, l.Close())
	require.ErrorIs(t, l.Append(6, nil, nil), ErrClosed)
	require.ErrorIs(t, l.Compact(), ErrClosed)
	require.NoError(t, l.Close())
}

// TestLogFlips: every byte of a log changed, and every length, with a frame behind what was
// committed. There is an error that changes nothing, or exactly what was committed. Batch 4 has
// no hashes, so that only its generation tells that it is gone.
func TestLogFlips(t *testing.T) {
	for _, batches := range []int{4, 6} {
		tracker, committed := runTo(t, batches)
		_, all := runTo(t, batches+1)
		open := func(file []byte) error {
			d := newDisk(t)
			writeFile(t, d, trackerName, tracker)
			writeFile(t, d, logName, file)
			o, err := openRun(d)
			defer o.close()
			if err != nil {
				require.Equal(t, file, readFile(t, d, logName))
				return err
			}
			require.NoError(t, o.check())
			require.EqualValues(t, batches, o.tracker.State().Batch)
			require.Equal(t, committed, readFile(t, d, logName))
			return nil
		}
		for i := range all {
			for _, x := range []byte{0x01, 0x80, 0xff} {
				file := bytes.Clone(all)
				file[i] ^= x
				if err := open(file); i < len(committed) {
					require.Error(t, err, "byte %d", i)
					if i >= 16 {
						require.ErrorIs(t, err, ErrDamaged)
						require.ErrorContains(t, err, "at offset ")
					}
				} else {
					require.NoError(t, err, "byte %d", i)
				}
			}
		}
		for n := range len(all) + 1 {
			if err := open(all[:n]); n < len(committed) {
				require.Error(t, err, "%d bytes", n)
			} else {
				require.NoError(t, err, "%d bytes", n)
			}
		}
		require.NoError(t, open(append(bytes.Clone(all), bytes.Repeat([]byte("x"), 500)...)))
		require.NoError(t, open(append(bytes.Clone(all), make([]byte, 5000)...)))
	}
}

// TestAppendFailureStays: after a write or a sync that failed every call returns the same.
func TestAppendFailureStays(t *testing.T) {
	for _, op := range []fsys.Op{fsys.OpAppend, fsys.OpSync} {
		d := newDisk(t)
		l, _, err := collect(logName, State{}, WithFS(d))
		require.NoError(t, err)
		d.FailAt(op, d.Ops(op)+1, syscall.ENOSPC)
		first := l.Append(2, batchHashes(3), nil)
		require.ErrorIs(t, first, syscall.ENOSPC)
		require.Equal(t, first, l.Append(2, nil, nil))
		require.Equal(t, first, l.Compact())
		require.False(t, l.Worn())
		require.ErrorIs(t, l.Close(), syscall.ENOSPC)
	}
}

// TestCompactionOnFullDisk: it leaves a log that goes on.
func TestCompactionOnFullDisk(t *testing.T) {
	for _, op := range []fsys.Op{fsys.OpCreate, fsys.OpAppend, fsys.OpSync} {
		d := newDisk(t)
		o, err := openRun(d)
		require.NoError(t, err)
		for range 5 {
			require.NoError(t, o.commit())
		}
		before := readFile(t, d, logName)
		d.FailAt(op, d.Ops(op)+1, syscall.ENOSPC)
		require.ErrorIs(t, o.log.Compact(), syscall.ENOSPC)
		require.Equal(t, before, readFile(t, d, logName))
		names, err := d.List("run")
		require.NoError(t, err)
		require.NotContains(t, names, "log.new")
		require.NoError(t, o.commit())
		require.NoError(t, o.log.Compact())
		require.Equal(t, 2, o.log.Frames())
		require.NoError(t, o.commit())
		o.close()
		o, err = openRun(d)
		require.NoError(t, err)
		require.NoError(t, o.check())
		require.EqualValues(t, 7, o.tracker.State().Batch)
		o.close()
	}
}

// countingFS counts what is written to files that are made anew, which is what compactions
// write, and spares the syncs.
type countingFS struct {
	fsys.FS
	written int64
}

func (c *countingFS) OpenWrite(name string) (fsys.File, error) {
	f, err := c.FS.OpenWrite(name)
	return countingFile{f, new(int64)}, err
}

func (c *countingFS) Create(name string) (fsys.File, error) {
	f, err := c.FS.Create(name)
	return countingFile{f, &c.written}, err
}

func (c *countingFS) SyncDir(string) error { return nil }

type countingFile struct {
	fsys.File
	written *int64
}

func (f countingFile) Append(p []byte) (int, error) {
	*f.written += int64(len(p))
	return f.File.Append(p)
}

func (f countingFile) Sync() error { return nil }

// TestCompactionIsAmortised: what is written by compactions is at most twice what was appended,
// and the log is never much longer than a compacted one, whatever the commits are.
func TestCompactionIsAmortised(t *testing.T) {
	const maxFrames = 4096 // the default
	commits, first := 100_000, 1_000_000
	if testing.Short() {
		commits, first = 20_000, 100_000
	}
	for _, c := range []struct {
		name    string
		first   int // hashes of the log before
		commits int
		hashes  int           // of each commit
		state   func(int) int // bytes of its state
		compact bool          // whether there must be compactions
	}{
		{"a hash and a state", first, commits, 1, func(int) int { return 2000 }, true},
		{"a hash", first / 20, commits, 1, func(int) int { return 0 }, true},
		{"a hash in a large log", first, commits / 10, 1, func(int) int { return 0 }, false},
		{"a state", 0, commits, 0, func(int) int { return 2000 }, true},
		{"many hashes", 0, commits / 20, 100, func(int) int { return 0 }, false},
		{"a large state, now and then", first / 20, commits, 1, func(i int) int {
			if i%5000 == 0 {
				return 4 << 20
			}
			return 10
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := &countingFS{FS: fsys.OS{}}
			l, err := OpenLog(filepath.Join(t.TempDir(), "log"), State{}, nil, WithFS(files))
			require.NoError(t, err)
			header := l.Size()
			require.NoError(t, l.Append(2, manyHashes(c.first), nil))
			appended := l.Size()
			files.written = 0 // the header of the log
			hashes, state, compactions, largest := manyHashes(c.hashes), make([]byte, 4<<20), 0, 0
			for i := range c.commits {
				size, n := l.Size(), c.state(i)
				largest = max(largest, n)
				require.NoError(t, l.Append(uint64(i)+3, hashes, state[:n]))
				require.EqualValues(t, 40+16*c.hashes+n, l.Size()-size)
				appended += l.Size() - size
				if l.Worn() {
					before := l.Size()
					require.NoError(t, l.Compact())
					require.LessOrEqual(t, 3*l.Size(), 2*before)
					require.False(t, l.Worn())
					compactions++
				}
				// A frame for each 65536 hashes, and two.
				compacted := header + 16*int64(l.Count()) + 40*(int64(l.Count())/65536+2) + 2*int64(largest)
				frames := maxFrames + 2*(int64(l.Count())/65536+2)
				require.True(t, l.Size() <= compacted+compacted/2+int64(largest) || int64(l.Frames()) <= frames)
			}
			t.Logf("%d compactions wrote %d bytes, %.2f of %d appended", compactions, files.written, float64(files.written)/float64(appended), appended)
			require.Equal(t, c.compact, compactions > 0)
			require.LessOrEqual(t, files.written, 2*appended)
			require.NoError(t, l.Close())
		})
	}
}

// TestCompactionOfAnyCommits: the same for commits and limits of any kind.
func TestCompactionOfAnyCommits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		files := &countingFS{FS: fsys.NewDisk()}
		l, err := OpenLog("log", State{}, nil, WithFS(files), WithMaxFrames(rapid.IntRange(1, 4).Draw(t, "frames")))
		require.NoError(t, err)
		files.written = 0
		appended := l.Size()
		for i := range rapid.IntRange(1, 60).Draw(t, "commits") {
			n := rapid.SampledFrom([]int{0, 0, 1, 40}).Draw(t, "hashes")
			state := rapid.SampledFrom([]int{0, 1, 200, 9000}).Draw(t, "state")
			appended += int64(40 + 16*n + state)
			require.NoError(t, l.Append(uint64(i)+2, manyHashes(n), make([]byte, state)))
			if l.Worn() {
				before, size := files.written, l.Size()
				require.NoError(t, l.Compact())
				require.Equal(t, l.Size(), files.written-before)
				require.LessOrEqual(t, 3*l.Size(), 2*size)
				require.LessOrEqual(t, files.written, 2*appended)
			}
		}
		require.NoError(t, l.Close())
	})
}

func TestInspectLog(t *testing.T) {
	_, sound := runTo(t, 6) // frames of 0 to 3 hashes and 14 bytes of state
	at := func(batch int) int {
		_, log := runTo(t, batch-1)
		return len(log)
	}
	report := func(file []byte) LogReport {
		d := newDisk(t)
		writeFile(t, d, logName, file)
		r, err := InspectLog(logName, WithFS(d))
		require.NoError(t, err)
		require.EqualValues(t, len(file), r.Size)
		require.Equal(t, file, readFile(t, d, logName))
		return r
	}
	r := report(sound)
	require.True(t, r.Sound())
	require.Equal(t, LogReport{Size: int64(len(sound)), Frames: 6, Hashes: 9, States: 6, First: 2, Last: 7}, r)

	header, payload := bytes.Clone(sound), bytes.Clone(sound)
	header[at(3)+24] ^= 1 // how many hashes
	payload[at(3)+41] ^= 1
	for name, file := range map[string][]byte{"header": header, "payload": payload} {
		r = report(file)
		require.Len(t, r.Damage, 1, name)
		require.EqualValues(t, at(3), r.Damage[0].Offset, name)
		require.EqualValues(t, at(4)-at(3), r.Damage[0].Length, name)
		require.ErrorIs(t, r.Damage[0].Err, ErrChecksum, name)
		require.Nil(t, r.Torn, name)
		require.Equal(t, 5, r.Frames, name)
		require.EqualValues(t, 6, r.Hashes, name)
	}
	// What looks like a header hides none.
	copy(header[at(4)-10:], "RSDF")
	r = report(header)
	require.Len(t, r.Damage, 1)
	require.EqualValues(t, at(4)-at(3), r.Damage[0].Length)
	require.Equal(t, 5, r.Frames)
	for n := at(6); n < len(sound); n++ {
		r = report(sound[:n])
		require.Empty(t, r.Damage)
		require.Equal(t, 5, r.Frames)
		if n > at(6) {
			require.EqualValues(t, at(6), r.Torn.Offset)
			require.EqualValues(t, n-at(6), r.Torn.Length)
		}
	}
	// A frame that is gone as a whole.
	gone := append(bytes.Clone(sound[:at(3)]), sound[at(4):]...)
	r = report(gone)
	require.False(t, r.Sound())
	require.EqualValues(t, at(3), r.Damage[0].Offset)
	require.ErrorContains(t, r.Damage[0].Err, "3 hashes come before it, it was written behind 6")
	// The header of the file.
	file := bytes.Clone(sound)
	file[0] ^= 1
	r = report(file)
	require.Equal(t, 6, r.Frames)
	require.EqualValues(t, 0, r.Damage[0].Offset)
	// More than is listed.
	r = report(append(bytes.Clone(sound[:16]), bytes.Repeat(append([]byte("y"), sound[at(4):at(5)]...), 150)...))
	require.Len(t, r.Damage, 100)
	require.Positive(t, r.More)
}

// TestOpenDeduplicator: texts of before are known, in at most 40 bytes each.
func TestOpenDeduplicator(t *testing.T) {
	name := filepath.Join(t.TempDir(), "log")
	d, l, err := OpenDeduplicator(name, State{}, nil)
	require.NoError(t, err)
	const n = 100_000
	generation := uint64(1)
	for i := range n {
		require.True(t, d.IsUnique(fmt.Appendf(nil, "text %d", i)))
		if i%25_000 == 24_999 {
			hashes, err := d.AppendHashes(nil, d.Count(), d.Position())
			require.NoError(t, err)
			generation++
			require.NoError(t, l.Append(generation, hashes, nil))
			d.Commit()
		}
	}
	require.NoError(t, l.Close())
	d, l, err = OpenDeduplicator(name, State{Generation: generation, Hashes: n}, nil)
	require.NoError(t, err)
	require.Equal(t, n, d.Count())
	require.LessOrEqual(t, d.Bytes(), int64(40*n))
	for i := range n {
		require.True(t, d.IsSeen(fmt.Appendf(nil, "text %d", i)))
	}
	require.False(t, d.IsSeen([]byte("another")))
	require.NoError(t, l.Close())
	_, _, err = OpenDeduplicator(name, State{Generation: generation, Hashes: n + 1}, nil)
	require.ErrorIs(t, err, ErrDamaged)
	_, _, err = OpenDeduplicator(name, State{Generation: generation, Hashes: n}, []text.DedupOption{text.WithNulls(9)})
	require.ErrorIs(t, err, text.ErrOption)
}
