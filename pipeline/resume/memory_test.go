package resume

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/internal/fsys"
	"github.com/rosaline-go/rosaline/pipeline"
	"github.com/rosaline-go/rosaline/pipeline/text"
)

// State after each k batches, loaded into another pipeline and, later, into the same one.
func TestPipelineLoadsStates(t *testing.T) {
	forPlans(t, func(t *testing.T, p runPlan, want [][]record) {
		straight := memoryPlan(t, p)
		var states [][]byte
		for k := range len(want) + 2 {
			state, err := straight.State()
			require.NoError(t, err)
			again, err := straight.State()
			require.NoError(t, err)
			require.Equal(t, state, again)
			states = append(states, state)
			switch {
			case k < len(want):
				require.Equal(t, want[k], take(t, straight, 1)[0])
			case k == len(want):
				require.Empty(t, rest(t, straight))
			}
			other := memoryPlan(t, p.otherwise(k))
			take(t, other, k%3)
			require.NoError(t, other.Load(state))
			again, err = other.State()
			require.NoError(t, err)
			require.Equal(t, string(state), string(again), "saved again after it was loaded, behind %d", k)
			got := take(t, other, min(1, len(want)-min(k, len(want))))
			state, err = other.State()
			require.NoError(t, err)
			got = append(got, rest(t, other)...)
			require.Equal(t, want[min(k, len(want)):], got, "behind %d", k)
			// A second time in the epoch.
			require.NoError(t, other.Load(state))
			require.Equal(t, want[min(k+1, len(want)):], rest(t, other), "behind %d and 1", k)
			require.NoError(t, other.Close())
		}
		for k := len(states) - 1; k >= 0; k-- {
			require.NoError(t, straight.Load(states[k]))
			require.Equal(t, want[min(k, len(want)):], rest(t, straight), "back to %d", k)
			require.NoError(t, straight.Commit())
		}
	})
}

// Each bit that is flipped and each length makes an error, and the pipeline is as it was.
func TestDamagedStatesInMemory(t *testing.T) {
	p := planOf("shuffle, dedup", 1)
	want := p.want(t)
	r := memoryPlan(t, p)
	take(t, r, 6)
	state, err := r.State()
	require.NoError(t, err)
	refused := func(b []byte, of ...error) {
		err := r.Load(b)
		require.Error(t, err)
		for _, e := range of {
			require.ErrorIs(t, err, e)
		}
		require.NotErrorIs(t, err, ErrClosed)
	}
	for n := range state {
		refused(state[:n])
	}
	for i := range state {
		for bit := range 8 {
			state[i] ^= 1 << bit
			refused(state)
			state[i] ^= 1 << bit
		}
	}
	refused(append(slices.Clone(state), 0), ErrShort)
	refused(append(slices.Clone(state), state[16:]...), ErrShort)
	refused(nil, ErrShort)
	refused(logHeader(), ErrShort)
	tracker, log := runTo(t, 3)
	refused(tracker, ErrForeign)
	refused(log, ErrGeneration)
	seal := func(hashes []text.Hash128, state string) []byte {
		f := frame{generation: memoryGeneration, hashes: hashes, state: []byte(state)}
		return f.append(logHeader())
	}
	refused(seal(nil, "{}"), ErrCheckpoint)
	refused(seal(nil, `{"version":1}`), ErrCheckpoint)
	refused(seal(nil, "no JSON"), ErrCheckpoint)
	refused(seal(nil, `{"version":2,"pipeline":{}}`), ErrVersion)
	refused(seal(nil, `{"version":1,"pipeline":{}}`), pipeline.ErrState)
	require.Equal(t, want[6:], rest(t, r))
	require.NoError(t, r.Load(state))
	require.Equal(t, want[6:], rest(t, r))

	// What is sound but not of this pipeline closes it.
	other := p
	other.source.name = " of another file"
	r = memoryPlan(t, other)
	require.ErrorIs(t, r.Load(state), pipeline.ErrStateMismatch)
	for _, use := range []func() error{
		func() error { _, err := r.Next(t.Context()); return err },
		func() error { _, err := r.State(); return err },
		func() error { return r.Load(state) },
		r.Commit,
	} {
		require.ErrorIs(t, use(), ErrClosed)
	}
	require.NoError(t, r.Close())

	// Nor does one whose hashes are not those that it says.
	c, hashes, err := parseMemory(state)
	require.NoError(t, err)
	raw, err := c.encode()
	require.NoError(t, err)
	require.NotEmpty(t, hashes)
	for _, hashes := range [][]text.Hash128{hashes[1:], append(slices.Clone(hashes), text.Hash128{Lo: 1}), nil} {
		r = memoryPlan(t, p)
		require.ErrorIs(t, r.Load(seal(hashes, string(raw))), ErrCheckpoint)
		require.NoError(t, r.Close())
	}
}

// A large set has more than one frame.
func TestStateOfManyHashes(t *testing.T) {
	p := planOf("dedup", 1)
	p.source = records{n: 150_000, texts: 1 << 20}
	p.chunk = 1000
	r := memoryPlan(t, p)
	take(t, r, 34_000)
	state, err := r.State()
	require.NoError(t, err)
	require.Greater(t, len(state), 16*130_000)
	other := memoryPlan(t, p)
	require.NoError(t, other.Load(state))
	again, err := other.State()
	require.NoError(t, err)
	require.True(t, bytes.Equal(state, again))
	require.Equal(t, rest(t, r), rest(t, other))
}

// A folder takes no state from before its last commit, and one of the same run from behind it as
// if it had come so far by itself.
func TestLoadOnAFolder(t *testing.T) {
	forPlans(t, func(t *testing.T, p runPlan, want [][]record) {
		perEpoch := len(want) / int(p.epochs)
		refusals := 0
		for k := 0; k <= len(want); k++ {
			d := newDisk(t)
			var committed *fsys.Disk
			r := startPlan(t, p, d)
			var states [][]byte // behind each batch, and at the end
			for j := range len(want) + 2 {
				if j == k {
					require.NoError(t, r.Commit())
					committed = d.Kill()
				}
				state, err := r.State()
				require.NoError(t, err)
				states = append(states, state)
				switch {
				case j < len(want):
					take(t, r, 1)
				case j == len(want):
					require.Empty(t, rest(t, r))
				}
			}
			require.NoError(t, r.Close())
			tracker, log := readFile(t, committed, trackerName), readFile(t, committed, logName)
			for j := range states {
				d := committed.Kill()
				r := startPlan(t, p, d)
				take(t, r, min(1, len(want)-k))
				err := r.Load(states[j])
				if j < k {
					require.ErrorIs(t, err, ErrOrder, "state %d, committed %d", j, k)
				}
				if err != nil {
					// The state has the hashes of its epoch alone, and the log must have those before.
					require.True(t, j < k || j >= perEpoch && errors.Is(err, ErrCheckpoint), "state %d, committed %d: %v", j, k, err)
					require.Equal(t, tracker, readFile(t, d, trackerName))
					require.Equal(t, log, readFile(t, d, logName))
					require.Equal(t, want[min(k+1, len(want)):], rest(t, r), "the pipeline is as it was")
					require.NoError(t, r.Commit())
					require.NoError(t, r.Close())
					refusals++
					continue
				}
				at := min(j, len(want))
				got := take(t, r, min(2, len(want)-at))
				require.NoError(t, r.Commit())
				require.NoError(t, r.Close())
				r = startPlan(t, p.otherwise(j), d)
				got = append(got, rest(t, r)...)
				require.Equal(t, want[at:], got, "state %d, committed %d", j, k)
				require.NoError(t, r.Commit())
				require.NoError(t, r.Close())
				var end Start
				q := p
				q.tell = func(s Start) { end = s }
				require.NoError(t, startPlan(t, q, d).Close())
				require.True(t, end.Ended)
			}
			if testing.Short() {
				k += 3
			}
		}
		require.Positive(t, refusals)
	})
}

// What a state that was just loaded says is committed without anything delivered in between.
func TestCommitRightAfterLoad(t *testing.T) {
	forPlans(t, func(t *testing.T, p runPlan, want [][]record) {
		straight := memoryPlan(t, p)
		for _, k := range []int{1, 2, len(want) - 1, len(want)} {
			if k/(len(want)/int(p.epochs)) > 0 && p.epochs > 1 {
				continue
			}
			require.NoError(t, straight.Close())
			straight = memoryPlan(t, p)
			take(t, straight, k)
			if k == len(want) {
				require.Empty(t, rest(t, straight))
			}
			state, err := straight.State()
			require.NoError(t, err)
			d := newDisk(t)
			r := startPlan(t, p, d)
			require.NoError(t, r.Load(state))
			again, err := r.State()
			require.NoError(t, err)
			require.Equal(t, string(state), string(again))
			require.NoError(t, r.Commit())
			ops := d.Ops(fsys.OpAny)
			require.NoError(t, r.Commit())
			require.Equal(t, ops, d.Ops(fsys.OpAny))
			require.NoError(t, r.Close())
			var at Start
			q := p
			q.tell = func(s Start) { at = s }
			r = startPlan(t, q, d)
			require.EqualValues(t, k, at.Batch)
			require.Equal(t, k == len(want), at.Ended)
			require.Equal(t, want[k:], rest(t, r))
			require.NoError(t, r.Close())
		}
	})
}
