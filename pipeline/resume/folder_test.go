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

	"github.com/rosaline-go/rosaline/internal/fsys"
)

// folderFiles are the files of a folder, by name.
type folderFiles map[string][]byte

func filesOf(t testing.TB, d fsys.FS) folderFiles {
	names, err := d.List("run")
	require.NoError(t, err)
	out := folderFiles{}
	for _, name := range names {
		out[name] = readFile(t, d, filepath.Join("run", name))
	}
	return out
}

// with returns the files with another content of one, nil for none.
func (f folderFiles) with(name string, content []byte) folderFiles {
	out := folderFiles{}
	for n, b := range f {
		out[n] = b
	}
	if out[name] = content; content == nil {
		delete(out, name)
	}
	return out
}

// disk is one with a folder of the files.
func (f folderFiles) disk(t testing.TB) *fsys.Disk {
	d := newDisk(t)
	for name, b := range f {
		writeFile(t, d, filepath.Join("run", name), b)
	}
	return d
}

var folderOptions = []Option{
	WithConfig(map[string]string{"--batch": "4", "input 1": "a.jsonl"}), WithKnown([]uint64{7, 1, 9}),
}

// committedFolders are the files of a run after each of its commits: that of the beginning, those of its
// batches, and that of its end.
func committedFolders(t testing.TB, p runPlan) []folderFiles {
	d := newDisk(t)
	r := startPlan(t, p, d, folderOptions...)
	out := []folderFiles{}
	commit := func() {
		require.NoError(t, r.Commit())
		out = append(out, filesOf(t, d))
	}
	commit()
	for range p.want(t) {
		take(t, r, 1)
		commit()
	}
	require.Empty(t, rest(t, r))
	commit()
	require.NoError(t, r.Close())
	return out
}

// goesOn opens the run of a folder as the same command does.
func goesOn(t testing.TB, p runPlan, d fsys.FS) error {
	r, err := openPlan(p, d, folderOptions[0])
	if err == nil {
		require.NoError(t, r.Close())
	}
	return err
}

// inspected reports on a folder, which must stay as it is.
func inspected(t testing.TB, f folderFiles) (FolderReport, error) {
	d := f.disk(t)
	r, err := InspectFolder("run", WithFS(d))
	require.Equal(t, f, filesOf(t, d))
	return r, err
}

func TestInspectFolder(t *testing.T) {
	for _, epochs := range []int64{1, 2} {
		p := planOf("dedup", epochs)
		all := committedFolders(t, p)
		frames := 0
		for k, f := range all {
			r, err := inspected(t, f)
			require.NoError(t, err)
			require.True(t, r.Sound(), "%v", r.Faults)
			s, ok := r.State()
			require.True(t, ok)
			batches := min(k, len(all)-2)
			require.EqualValues(t, batches, s.Batch)
			require.EqualValues(t, k+2, s.Generation)
			require.EqualValues(t, len(logHashes(t, f.disk(t))), s.Hashes)
			require.Equal(t, s.Hashes, r.Log.Hashes)
			frames++
			require.Equal(t, frames, r.Log.Frames)
			require.EqualValues(t, len(f["log"]), r.Committed)
			require.Zero(t, r.Uncommitted)
			require.Nil(t, r.Log.Torn)
			require.Equal(t, map[string]string{"--batch": "4", "input 1": "a.jsonl"}, r.Config)
			require.Equal(t, 3, r.Known)
			require.NotNil(t, r.Checkpoint)
			require.Equal(t, k == len(all)-1, r.Checkpoint.Ended)
			require.LessOrEqual(t, r.Epoch, epochs)
			require.NoError(t, goesOn(t, p, f.disk(t)))
		}
	}

	// Nothing was committed, and the log is not made yet.
	d := newDisk(t)
	require.NoError(t, startPlan(t, planOf("dedup", 1), d, folderOptions...).Close())
	for _, f := range []folderFiles{filesOf(t, d), filesOf(t, d).with("log", nil)} {
		r, err := inspected(t, f)
		require.NoError(t, err)
		require.True(t, r.Sound(), "%v", r.Faults)
		require.Nil(t, r.Checkpoint)
		require.Equal(t, f["log"] == nil, r.NoLog)
		require.EqualValues(t, len(f["log"]), r.Committed)
	}
}

// TestInspectFolderFlips: with any byte changed and any length of any file, what is sound are the
// folders whose run goes on, and what is not has its fault in the file, at the frame of the
// byte or before. What can be repaired is repaired to what that run finds.
func TestInspectFolderFlips(t *testing.T) {
	p := planOf("dedup", 1)
	p.source.n = 24
	all := committedFolders(t, p)
	last := all[1].with("log", all[2]["log"]) // a frame that was not committed
	committed := len(all[1]["log"])
	require.True(t, bytes.HasPrefix(last["log"], all[1]["log"]))
	check := func(name string, at int, content []byte) {
		f := last.with(name, content)
		r, err := inspected(t, f)
		require.NoError(t, err)
		opens := f.disk(t)
		failed := goesOn(t, p, opens)
		what := fmt.Sprintf("%s, byte %d: %v, %v", name, at, r.Faults, failed)
		if name == configName {
			require.False(t, r.Sound(), what) // the run knows it, and writes it anew
		} else {
			require.Equal(t, failed == nil, r.Sound(), what)
		}
		repaired := f.disk(t)
		cut, err := RepairFolder("run", WithFS(repaired))
		after := filesOf(t, repaired)
		delete(after, "tracker.lock") // it names another holder
		before := f.with("tracker.lock", nil)
		switch {
		case name == trackerFile && r.Sound():
			// One slot is left. If it is the older one there are two generations in the tail.
			slot := at / slotDistance
			_, ok := r.State()
			require.True(t, ok)
			if at%slotDistance < slotSize {
				require.ErrorContains(t, r.Tracker.Slots[slot].Err, fmt.Sprintf("offset %d", slot*slotDistance), what)
				require.Equal(t, 1-slot, r.Tracker.Current)
			}
			require.NoError(t, err)
			require.Zero(t, cut)
			require.Equal(t, before, after)
		case name == logFile && r.Sound():
			require.EqualValues(t, committed, r.Committed)
			require.NoError(t, err, what)
			if content := f["log"]; len(content) != committed {
				require.NotNil(t, r.Log.Torn, what)
				require.EqualValues(t, committed, r.Log.Torn.Offset)
				require.EqualValues(t, len(content)-committed, r.Log.Torn.Length)
				require.Equal(t, r.Log.Torn.Length, cut)
			}
			require.Equal(t, before.with("log", all[1]["log"]), after)
		case name == logFile:
			require.Error(t, err, what)
			require.Zero(t, cut)
			require.Equal(t, before, after)
			fault := r.Faults[0]
			require.Equal(t, "log", fault.File, what)
			require.LessOrEqual(t, fault.Offset, int64(at), what)
			first := len(all[0]["log"])
			switch { // the frames
			case at >= first:
				require.EqualValues(t, first, fault.Offset, what)
			case at >= 16:
				require.EqualValues(t, 16, fault.Offset, what)
			default:
				require.Zero(t, fault.Offset, what)
			}
		case !r.Sound():
			require.Equal(t, name, r.Faults[0].File, what)
			if name == trackerFile {
				require.Error(t, err, what)
			}
			require.Equal(t, before, after)
		}
	}
	for _, name := range []string{"config", "tracker", "log", "known"} {
		b := last[name]
		for i := range b {
			if name == trackerFile && i%slotDistance >= slotSize && i%97 > 0 {
				continue // where there is nothing
			}
			c := bytes.Clone(b)
			c[i] ^= 1 << (i % 8)
			check(name, i, c)
		}
		for n := range b {
			if name == trackerFile && n%97 > 0 || name == logFile && n == committed {
				continue
			}
			check(name, n, b[:n:n])
		}
	}
}

// TestInspectFolderFaults: what else may be wrong.
func TestInspectFolderFaults(t *testing.T) {
	p := planOf("dedup", 1)
	all := committedFolders(t, p)
	sound, n := all[3], len(all[3]["log"])
	newerFrame := append(bytes.Clone(sound["log"]), sound["log"][16:]...)
	newerFrame[n+4] = 2
	sum(newerFrame[n:][:40])
	newerSlot := bytes.Clone(sound["tracker"])
	putSlot(newerSlot, 1, 2, 9, 9, 9)
	copies := bytes.Clone(sound["tracker"])
	copy(copies[:64], copies[4096:][:64])
	for name, c := range map[string]struct {
		files  folderFiles
		file   string
		offset int64
		is     error
		says   string
	}{
		"no log":             {sound.with("log", nil), "log", -1, ErrMissing, "generation 5"},
		"no config":          {sound.with("config", nil), "config", -1, ErrCorrupt, "config"},
		"config not JSON":    {sound.with("config", []byte("{")), "config", 0, ErrCorrupt, "config"},
		"other config":       {sound.with("config", []byte("{}\n")), "config", 0, ErrConfig, "the tracker has"},
		"no known":           {sound.with("known", nil), "known", -1, ErrMissing, "0 hashes of another program, there were 3"},
		"log of later":       {sound.with("log", all[8]["log"]), "log", int64(n), ErrGeneration, "do not belong together"},
		"log of before":      {sound.with("log", all[2]["log"]), "log", int64(len(all[2]["log"])), ErrDamaged, "the log ends"},
		"log of tracker":     {sound.with("log", sound["tracker"]), "log", 0, ErrForeign, "a tracker"},
		"tracker of log":     {sound.with("tracker", sound["log"]), "tracker", 0, ErrForeign, "a dedup log"},
		"short tracker":      {sound.with("tracker", sound["tracker"][:8191]), "tracker", 0, ErrShort, "8191 bytes"},
		"copies":             {sound.with("tracker", copies), "tracker", 0, ErrCorrupt, "both slots have generation"},
		"newer slot":         {sound.with("tracker", newerSlot), "tracker", 0, ErrVersion, "newer program"},
		"newer frame behind": {sound.with("log", newerFrame), "log", int64(n), ErrVersion, "version 2"},
	} {
		r, err := inspected(t, c.files)
		require.NoError(t, err, name)
		require.False(t, r.Sound(), name)
		fault := r.Faults[0]
		require.Equal(t, c.file, fault.File, name)
		require.Equal(t, c.offset, fault.Offset, name)
		require.ErrorIs(t, fault.Err, c.is, name)
		require.ErrorContains(t, fault.Err, c.says, name)
		d := c.files.disk(t)
		cut, err := RepairFolder("run", WithFS(d))
		require.Zero(t, cut, name)
		if c.file == "log" || c.file == "tracker" {
			require.ErrorIs(t, err, c.is, name)
		}
		require.Equal(t, c.files.with("tracker.lock", nil), filesOf(t, d).with("tracker.lock", nil), name)
	}

	// A log alone, a folder of something else, and none.
	_, err := inspected(t, sound.with("tracker", nil))
	require.ErrorIs(t, err, ErrMissing)
	for _, f := range []folderFiles{{}, {"other": []byte("x")}} {
		_, err = inspected(t, f)
		require.ErrorIs(t, err, ErrForeign)
		d := f.disk(t)
		_, err = RepairFolder("run", WithFS(d))
		require.ErrorIs(t, err, ErrForeign)
		require.Equal(t, f, filesOf(t, d))
	}

	// A state that no pipeline made, and ones of another place.
	for _, c := range []struct {
		state string
		batch uint64
		says  string
	}{
		{"behind batch 1", 1, "no checkpoint"},
		{`{"version":1}`, 1, "it has no pipeline"},
		{`{"version":2,"pipeline":{}}`, 1, "version 2"},
		{string(stateOf(t, all[5])), 1, "5 elements, the tracker has 1"},
		{string(stateOf(t, all[5])), 5, "hashes, the tracker has 0"},
	} {
		d := newDisk(t)
		tracker, err := OpenStateTracker("run/tracker", ConfigOf([]byte("{}\n")), WithFS(d))
		require.NoError(t, err)
		log, err := OpenLog("run/log", State{}, nil, WithFS(d))
		require.NoError(t, err)
		require.NoError(t, log.Append(2, nil, []byte(c.state)))
		require.NoError(t, tracker.Commit(State{Generation: 2, Batch: c.batch}))
		require.NoError(t, errors.Join(log.Close(), tracker.Close()))
		writeFile(t, d, "run/config", []byte("{}\n"))
		r, err := InspectFolder("run", WithFS(d))
		require.NoError(t, err)
		require.NotEmpty(t, r.Faults, c.says)
		require.Equal(t, "log", r.Faults[0].File)
		require.ErrorContains(t, r.Faults[0].Err, c.says)
	}
}

// stateOf is the state of the last commit of a folder.
func stateOf(t testing.TB, f folderFiles) []byte {
	tracker, err := InspectTracker(trackerName, WithFS(f.disk(t)))
	require.NoError(t, err)
	l, _, err := collect(logName, tracker.Slots[tracker.Current].State, WithFS(f.disk(t)))
	require.NoError(t, err)
	defer l.Close()
	return l.State()
}

func TestRepairFolder(t *testing.T) {
	p := planOf("dedup", 1)
	all := committedFolders(t, p)
	sound := all[3]
	tail := func(b ...byte) folderFiles { return sound.with("log", append(bytes.Clone(sound["log"]), b...)) }
	next := all[4]["log"][len(sound["log"]):] // its frame

	first := all[0]["log"][16:]

	// Frames that were not committed stay, what is torn goes.
	for i, c := range []struct {
		files folderFiles
		cut   int
		kept  []byte
	}{
		{sound, 0, nil},
		{tail(next...), 0, next},
		{tail(append(bytes.Clone(next), 1, 2, 3)...), 3, next},
		{tail(make([]byte, 5000)...), 5000, nil},
		{tail(append(make([]byte, 40), next...)...), 40 + len(next), nil},
		{tail(next[:len(next)-1]...), len(next) - 1, nil},
		{tail(append(bytes.Clone(next), first...)...), len(first), next}, // one that comes again
		{sound.with("config", nil), 0, nil},
	} {
		r, err := inspected(t, c.files)
		require.NoError(t, err)
		require.Equal(t, c.files["config"] != nil, r.Sound(), "case %d: %v", i, r.Faults)
		require.EqualValues(t, len(sound["log"]), r.Committed)
		require.Equal(t, min(1, len(c.kept)), r.Uncommitted)
		require.Empty(t, r.Log.Damage)
		if c.cut == 5000 { // zeros
			require.Nil(t, r.Log.Torn)
			require.EqualValues(t, c.cut, r.Log.Free)
		} else if require.Equal(t, c.cut > 0, r.Log.Torn != nil); c.cut > 0 {
			require.EqualValues(t, len(sound["log"])+len(c.kept), r.Log.Torn.Offset)
			require.EqualValues(t, c.cut, r.Log.Torn.Length)
		}
		d := c.files.disk(t)
		cut, err := RepairFolder("run", WithFS(d))
		require.NoError(t, err)
		require.EqualValues(t, c.cut, cut, "case %d", i)
		require.Equal(t, c.files.with("log", append(bytes.Clone(sound["log"]), c.kept...)).with("tracker.lock", nil), filesOf(t, d.Kill()).with("tracker.lock", nil))
		cut, err = RepairFolder("run", WithFS(d))
		require.NoError(t, err)
		require.Zero(t, cut)
		require.NoError(t, goesOn(t, p, d))
	}

	// What a newer program wrote stays.
	newer := bytes.Clone(next)
	newer[4] = 2
	sum(newer[:40])
	f := tail(append(bytes.Clone(next), newer...)...)
	d := f.disk(t)
	_, err := RepairFolder("run", WithFS(d))
	require.ErrorIs(t, err, ErrVersion)
	require.Equal(t, f["log"], readFile(t, d, logName))

	// A run that is active.
	d = tail(1, 2, 3).disk(t)
	lock, err := d.Lock("run/tracker.lock", "another")
	require.NoError(t, err)
	_, err = RepairFolder("run", WithFS(d))
	require.ErrorIs(t, err, ErrLocked)
	require.ErrorContains(t, err, "another")
	require.NoError(t, lock.Close())
	require.Len(t, readFile(t, d, "run/log"), len(sound["log"])+3)

	// A disk that does not do it. The lock is given back.
	for _, op := range []fsys.Op{fsys.OpTruncate, fsys.OpSync} {
		d.FailAt(op, d.Ops(op)+1, syscall.EIO)
		_, err = RepairFolder("run", WithFS(d))
		require.ErrorIs(t, err, syscall.EIO)
		require.True(t, bytes.HasPrefix(readFile(t, d, "run/log"), sound["log"]))
	}
	_, err = RepairFolder("run", WithFS(d))
	require.NoError(t, err)

	// No log is made.
	d = newDisk(t)
	require.NoError(t, startPlan(t, p, d).Close())
	d = filesOf(t, d).with("log", nil).disk(t)
	cut, err := RepairFolder("run", WithFS(d))
	require.NoError(t, err)
	require.Zero(t, cut)
	_, err = d.Open("run/log")
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// watchedFS calls functions before a file is opened, and before it is read.
type watchedFS struct {
	fsys.FS
	open, read func(name string)
}

func (w watchedFS) Open(name string) (fsys.File, error) {
	w.open(name)
	f, err := w.FS.Open(name)
	return watchedFile{f, func() { w.read(name) }}, err
}

type watchedFile struct {
	fsys.File
	read func()
}

func (w watchedFile) ReadAt(p []byte, at int64) (int, error) {
	w.read()
	return w.File.ReadAt(p, at)
}

// TestInspectFolderOfActiveRun: between the tracker and the log, and while the log is read, the
// run makes commits. What is reported is one of them.
func TestInspectFolderOfActiveRun(t *testing.T) {
	p := planOf("dedup", 1)
	p.source.n, p.source.texts = 400, 400
	nothing := func(string) {}
	for _, commits := range []int{1, 2, 3, 4} {
		for _, reading := range []bool{false, true} {
			d := newDisk(t)
			r := startPlan(t, p, d, append(folderOptions, WithMaxFrames(1))...)
			take(t, r, 2)
			require.NoError(t, r.Commit())
			done := 0
			commit := func(name string) {
				if name != filepath.Join("run", "log") || done == commits {
					return
				}
				for ; done < commits; done++ {
					take(t, r, 1)
					require.NoError(t, r.Commit())
				}
				require.NoError(t, r.store.log.Compact())
			}
			w := watchedFS{d, commit, nothing}
			if reading {
				w = watchedFS{d, nothing, commit}
			}
			report, err := InspectFolder("run", WithFS(w))
			require.NoError(t, err)
			require.True(t, report.Sound(), "%v", report.Faults)
			s, _ := report.State()
			require.Contains(t, []uint64{2, 2 + uint64(commits)}, s.Batch)
			require.NoError(t, r.Close())
		}
	}

	// Those that never let go.
	for _, reading := range []bool{false, true} {
		d := newDisk(t)
		r := startPlan(t, p, d, folderOptions...)
		fresh := false
		commit := func(name string) {
			if name != filepath.Join("run", "log") {
				fresh = true
				return
			}
			for i := 0; i < 3 && fresh; i++ {
				take(t, r, 1)
				require.NoError(t, r.Commit())
			}
			fresh = false
		}
		if reading {
			// The log is known to have had so much when it was opened.
			report, err := InspectFolder("run", WithFS(watchedFS{d, nothing, commit}))
			require.NoError(t, err)
			require.True(t, report.Sound(), "%v", report.Faults)
		} else {
			_, err := InspectFolder("run", WithFS(watchedFS{d, commit, nothing}))
			require.ErrorIs(t, err, ErrLocked)
			require.ErrorContains(t, err, "changes while it is read")
		}
		require.NoError(t, r.Close())
	}
}
