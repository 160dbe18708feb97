package resume

import (
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/internal/fsys"
	"github.com/rosaline-go/rosaline/pipeline"
)

// A commit with nothing new does nothing; the first and that of the end do something.
func TestCommitOfNothing(t *testing.T) {
	p := planOf("shuffle, dedup", 1)
	want := p.want(t)
	d := newDisk(t)
	calls := 0
	hook := WithBeforeCommit(func() (any, error) { calls++; return calls, nil })
	var at Start
	p.tell = func(s Start) { at = s }
	open := func() *ResumablePipeline[[]record] { return startPlan(t, p, d, hook) }
	quiet := func(r *ResumablePipeline[[]record]) {
		ops, before := d.Ops(fsys.OpAny), calls
		require.NoError(t, r.Commit())
		require.Equal(t, ops, d.Ops(fsys.OpAny))
		require.Equal(t, before, calls)
	}
	r := open()
	require.Zero(t, at.Batch)
	require.Nil(t, at.Extra)
	require.NoError(t, r.Commit()) // of the beginning
	require.Equal(t, 1, calls)
	quiet(r)
	require.NoError(t, r.Close())
	r = open()
	require.Zero(t, at.Batch)
	require.Equal(t, "1", string(at.Extra))
	quiet(r)
	take(t, r, 2)
	require.NoError(t, r.Commit())
	quiet(r)
	take(t, r, 1)
	require.NoError(t, r.Close())
	r = open()
	require.EqualValues(t, 2, at.Batch)
	require.Equal(t, "2", string(at.Extra))
	quiet(r)
	require.Equal(t, want[2:], rest(t, r))
	require.NoError(t, r.Commit())
	quiet(r)
	_, err := r.Next(t.Context())
	require.Equal(t, io.EOF, err)
	quiet(r)
	require.NoError(t, r.Close())
	require.ErrorIs(t, r.Commit(), ErrClosed)
	r = open()
	require.True(t, at.Ended)
	require.Equal(t, "3", string(at.Extra))
	quiet(r)
	state, err := r.State()
	require.NoError(t, err)
	require.Empty(t, rest(t, r))
	require.Equal(t, pipeline.Stats{}, r.Stats())
	require.NoError(t, r.Load(state))
	require.Empty(t, rest(t, r))
	require.NoError(t, r.Close())
}

// One sync of each file, in order, and no more of either, make a commit.
func TestOperationsOfACommit(t *testing.T) {
	p := planOf("dedup", 1)
	d := newDisk(t)
	r := startPlan(t, p, d)
	for range 3 {
		take(t, r, 1)
		syncs, any := d.Ops(fsys.OpSync), d.Ops(fsys.OpAny)
		require.NoError(t, r.Commit())
		require.Equal(t, 2, d.Ops(fsys.OpSync)-syncs)
		require.Equal(t, 4, d.Ops(fsys.OpAny)-any)
	}
}

// After an error of the function nothing is committed, and all of it the next time.
func TestCommitWhoseFunctionFails(t *testing.T) {
	p := planOf("dedup", 1)
	want := p.want(t)
	d := newDisk(t)
	failed := errors.New("no room for the output")
	var extra any
	var err error
	hook := WithBeforeCommit(func() (any, error) { return extra, err })
	var at Start
	p.tell = func(s Start) { at = s }
	r := startPlan(t, p, d, hook)
	take(t, r, 1)
	extra = map[string]int{"size": 7}
	require.NoError(t, r.Commit())
	take(t, r, 1)
	before := [2][]byte{readFile(t, d, trackerName), readFile(t, d, logName)}
	ops := d.Ops(fsys.OpAny)
	for range 2 {
		err = failed
		require.ErrorIs(t, r.Commit(), failed)
		extra, err = func() {}, nil // no JSON
		require.Error(t, r.Commit())
	}
	require.Equal(t, ops, d.Ops(fsys.OpAny))
	require.Equal(t, before, [2][]byte{readFile(t, d, trackerName), readFile(t, d, logName)})
	extra = nil // that of the last commit stays
	require.NoError(t, r.Commit())
	require.NoError(t, r.Close())
	r = startPlan(t, p, d, hook)
	require.EqualValues(t, 2, at.Batch)
	require.JSONEq(t, `{"size":7}`, string(at.Extra))
	require.Equal(t, want[2:], rest(t, r))
	extra = "the end"
	require.NoError(t, r.Commit())
	require.NoError(t, r.Close())
	r = startPlan(t, p, d, hook)
	require.True(t, at.Ended)
	require.Equal(t, `"the end"`, string(at.Extra))
	require.NoError(t, r.Close())

	// In memory the function is called as well, and the state has what it returned.
	m, err2 := NewPipeline(t.Context(), p.build, hook)
	require.NoError(t, err2)
	take(t, m, 1)
	extra = 5
	require.NoError(t, m.Commit())
	state, err2 := m.State()
	require.NoError(t, err2)
	require.NoError(t, m.Load(state))
	require.Equal(t, "5", string(at.Extra))
	require.NoError(t, m.Close())
}

// After a file has failed each commit returns its error; opened again, the run goes on.
func TestCommitThatFails(t *testing.T) {
	p := planOf("dedup", 1)
	want := p.want(t)
	for op, kind := range map[fsys.Op]string{fsys.OpAppend: "log", fsys.OpWrite: "tracker"} {
		d := newDisk(t)
		r := startPlan(t, p, d)
		take(t, r, 2)
		require.NoError(t, r.Commit())
		take(t, r, 1)
		d.FailAt(op, d.Ops(op)+1, syscall.EIO)
		for range 2 {
			err := r.Commit()
			require.ErrorIs(t, err, syscall.EIO)
			require.ErrorContains(t, err, kind)
		}
		require.ErrorIs(t, r.Close(), syscall.EIO)
		r = startPlan(t, p, d)
		require.Equal(t, want[2:], rest(t, r))
		require.NoError(t, r.Close())
	}
}

// Commits that go on in the background are what Commit makes, in order, and their errors come
// with the next call.
func TestCommitLater(t *testing.T) {
	forPlans(t, func(t *testing.T, p runPlan, want [][]record) {
		d := newDisk(t)
		var at Start
		p.tell = func(s Start) { at = s }
		delivered := 0 // is read and written by the consumer alone
		extra := WithExtra(func() (any, error) { return delivered, nil })
		before := 0
		hook := WithBeforeCommit(func() (any, error) { before++; return nil, nil })
		r := startPlan(t, p, d, extra, hook)
		for i, w := range want {
			require.Equal(t, w, take(t, r, 1)[0])
			delivered++
			require.NoError(t, r.CommitLater())
			if i%3 == 2 {
				require.NoError(t, r.Close()) // it waits
				require.False(t, r.Committing())
				r = startPlan(t, p.otherwise(i), d, extra, hook)
				require.EqualValues(t, i+1, at.Batch)
				require.Equal(t, fmt.Sprint(i+1), string(at.Extra))
				require.False(t, at.Ended)
			}
		}
		require.Empty(t, rest(t, r))
		delivered = -1
		require.NoError(t, r.CommitLater())
		require.NoError(t, r.CommitLater()) // nothing new
		require.NoError(t, r.Commit())      // likewise
		require.Equal(t, len(want)+1, before)
		require.NoError(t, r.Close())
		require.NoError(t, startPlan(t, p, d).Close())
		require.True(t, at.Ended)
		require.Equal(t, "-1", string(at.Extra))
	})
}

// What the function returns in the background stays with the commits behind it.
func TestCommitLaterKeepsTheExtra(t *testing.T) {
	p := planOf("dedup", 1)
	d := newDisk(t)
	var at Start
	p.tell = func(s Start) { at = s }
	var extra any = "the first"
	r := startPlan(t, p, d, WithBeforeCommit(func() (any, error) { return extra, nil }))
	take(t, r, 1)
	require.NoError(t, r.CommitLater())
	require.NoError(t, r.CommitLater()) // waits
	extra = nil
	take(t, r, 1)
	require.NoError(t, r.Commit())
	require.NoError(t, r.Close())
	require.NoError(t, startPlan(t, p, d).Close())
	require.EqualValues(t, 2, at.Batch)
	require.Equal(t, `"the first"`, string(at.Extra))
}

func TestCommitLaterThatFails(t *testing.T) {
	p := planOf("dedup", 1)
	want := p.want(t)
	failed := errors.New("no room for the output")
	for _, next := range []func(*ResumablePipeline[[]record]) error{
		(*ResumablePipeline[[]record]).CommitLater, (*ResumablePipeline[[]record]).Commit, (*ResumablePipeline[[]record]).Close,
	} {
		d := newDisk(t)
		var fails atomic.Bool
		r := startPlan(t, p, d, WithBeforeCommit(func() (any, error) {
			if fails.Load() {
				return nil, failed
			}
			return nil, nil
		}))
		take(t, r, 1)
		require.NoError(t, r.Commit())
		take(t, r, 1)
		fails.Store(true)
		require.NoError(t, r.CommitLater())
		require.ErrorIs(t, next(r), failed)
		require.NoError(t, r.Close())
		r = startPlan(t, p, d)
		require.Equal(t, want[1:], rest(t, r))
		require.NoError(t, r.Close())
	}
}
