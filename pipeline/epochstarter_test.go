package pipeline

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// journal is what became of the transforms of a pipeline, in order.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) write(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, fmt.Sprintf(format, args...))
}

func (j *journal) read() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.lines)
}

// dated gives elements the number of the epoch.
type dated struct {
	to    *journal
	epoch int64
	came  int
}

func (d *dated) StartEpoch(epoch int64) {
	d.to.write("start %d", epoch)
	d.epoch = epoch
}

func (d *dated) Push(_ context.Context, r rec, emit func(rec)) error {
	if d.came == 0 {
		d.to.write("first %d", d.epoch)
	}
	d.came++
	emit(rec{V: append(slices.Clone(r.V), int(d.epoch))})
	return nil
}

func (d *dated) Finish(context.Context, func(rec)) error {
	d.to.write("finish %d", d.epoch)
	return nil
}

// datedSaved is one that can be saved.
type datedSaved struct{ dated }

func (d *datedSaved) Snapshot() (any, error) { return d.came, nil }

func (d *datedSaved) Restore(raw json.RawMessage) error {
	d.to.write("restore %d", d.epoch)
	return json.Unmarshal(raw, &d.came)
}

// StartEpoch comes once in each epoch, first of all, and as well when it goes on.
func TestEpochStarter(t *testing.T) {
	for _, saving := range []bool{false, true} {
		j := new(journal)
		p := From[rec](upTo(30)).Stateful(func() StatefulTransform[rec, rec] {
			j.write("make")
			if saving {
				return &datedSaved{dated{to: j, epoch: -1}}
			}
			return &dated{to: j, epoch: -1}
		}).Epochs(3).ChunkSize(4).Prefetch(2)
		got := allOf(t, p)
		for i, r := range got {
			require.Equal(t, []int{i % 30, i / 30}, r.V)
		}
		require.Equal(t, []string{
			"make", "start 0", "first 0", "finish 0",
			"make", "start 1", "first 1", "finish 1",
			"make", "start 2", "first 2", "finish 2",
		}, j.read())
		for k := range len(got) + 1 {
			it := begin(t, p)
			takeN(t, it, k)
			state := saved(t, it)
			require.NoError(t, it.Close())
			*j = journal{}
			it = goOn(t, p, state)
			require.Equal(t, got[k:], takeRest(t, it), "after %d", k)
			require.NoError(t, it.Close())
			lines := j.read()
			for i, line := range lines {
				if line == "make" {
					require.Greater(t, len(lines), i+1)
					require.Contains(t, lines[i+1], "start ")
				} else if i == 0 || lines[i-1] != "make" {
					require.NotContains(t, line, "start")
				}
			}
			if saving && k%30 == 20 { // behind a mark in the epoch
				require.Equal(t, []string{"make", fmt.Sprint("start ", k/30), fmt.Sprint("restore ", k/30)}, lines[:3])
			}
		}
	}
}

// Epochs are those that the stage sees: under Repeat there are more than the pipeline has.
func TestEpochStarterUnderRepeat(t *testing.T) {
	j := new(journal)
	p := From[rec](upTo(5)).Stateful(func() StatefulTransform[rec, rec] { return &dated{to: j} }).Repeat(2).Epochs(2)
	epochs := []int{}
	for _, r := range allOf(t, p) {
		epochs = append(epochs, r.V[1])
	}
	require.Equal(t, []int{0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3}, epochs)
}

// An epoch without elements has a transform all the same, which is told its number.
func TestEpochStarterOfNothing(t *testing.T) {
	j := new(journal)
	p := From[rec](upTo(5)).Filter(func(rec) bool { return false }).
		Stateful(func() StatefulTransform[rec, rec] { return &dated{to: j} }).Epochs(2)
	require.Empty(t, allOf(t, p))
	require.Equal(t, []string{"start 0", "finish 0", "start 1", "finish 1"}, j.read())
}

type startPanics struct{ dated }

func (*startPanics) StartEpoch(int64) { panic("no epoch") }

func TestEpochStarterThatPanics(t *testing.T) {
	for _, policy := range []Policy{Fail, Skip} {
		p := From[rec](upTo(5)).Stateful(func() StatefulTransform[rec, rec] { return &startPanics{dated{to: new(journal)}} }).OnError(policy)
		got, err := takeAll(begin(t, p))
		require.ErrorIs(t, err, ErrPanic)
		require.NotErrorIs(t, err, io.EOF)
		require.Empty(t, got)
	}
}
