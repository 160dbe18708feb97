package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/pipeline"
)

// TestEngineReport counts batches by hand: 10 lines, 3 a batch.
func TestEngineReport(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string // of each stage: name in→out
	}{
		{nil, "lines 0→4 decode 4→4 scan 4→4 resolve 4→4 emit 4→4"},
		{[]string{"--shuffle", "5"}, "lines 0→4 decode 4→4 split 4→10 shuffle 10→10 batch 10→4 gather 4→4 scan 4→4 resolve 4→4 emit 4→4"},
	} {
		rep := filepath.Join(t.TempDir(), "report.json")
		r := inProcess(t, numbers(10), append([]string{"run", "-", "--stages", "none", "--batch", "3", "--workers", "2", "--prefetch", "3", "--report", rep}, c.args...)...)
		require.Equal(t, exitDone, r.code, r.err)
		var got report
		require.NoError(t, json.Unmarshal([]byte(read(t, rep)), &got))
		require.Equal(t, 2, got.Schema)
		e := got.Engine
		require.Equal(t, []int{2, 3, 5}, []int{e.Workers, e.Batch, e.InFlight})
		require.EqualValues(t, 4, e.Batches)
		require.EqualValues(t, 1, e.Epochs)
		require.Positive(t, e.Seconds)
		var stages []string
		for _, s := range e.Stages {
			stages = append(stages, fmt.Sprintf("%s %d→%d", s.Name, s.In, s.Out))
			require.Empty(t, s.Errors)
			if q := s.Queue; q != nil {
				require.Zero(t, q.Depth)
				require.Positive(t, q.Peak)
				require.LessOrEqual(t, q.Peak, q.Limit)
				require.LessOrEqual(t, q.Mean, float64(q.Peak))
			}
		}
		require.Equal(t, c.want, strings.Join(stages, " "))
		last := e.Stages[len(e.Stages)-1]
		require.NotNil(t, last.Queue)
	}
}

// TestEngineReportHasErrors: what ended the run is counted at its stage.
func TestEngineReportHasErrors(t *testing.T) {
	rep := filepath.Join(t.TempDir(), "report.json")
	r := inProcess(t, numbers(10)+"{broken\n", "run", "-", "--stages", "none", "--report", rep)
	require.Equal(t, exitFailed, r.code)
	var got report
	require.NoError(t, json.Unmarshal([]byte(read(t, rep)), &got))
	require.Equal(t, "scan", got.Engine.Stages[2].Name)
	require.Equal(t, map[string]int64{"transform": 1}, got.Engine.Stages[2].Errors)
}

// TestInFlightIsBounded blocks the writer: no more is read than may be in flight.
func TestInFlightIsBounded(t *testing.T) {
	for shuffle := range 3 { // what its buffer holds is not in flight
		h := newHarness(t, strings.NewReader(numbers(1000)),
			"--stages", "none", "--batch", "1", "--workers", "2", "--prefetch", "3", "--shuffle", fmt.Sprint(shuffle))
		var reads atomic.Int64
		h.in.pause = func() { reads.Add(1) }
		first, written := true, 0
		_, err := drive(h.engine, h.plan, func(b *batch) error {
			if first {
				first = false
				require.Eventually(t, func() bool { return reads.Load() >= 5 }, 30*time.Second, time.Millisecond)
				time.Sleep(20 * time.Millisecond)
				// The batch at hand is not in flight any more, and its place has been taken.
				require.LessOrEqual(t, reads.Load(), int64(5+1+shuffle))
			}
			written += len(b.result.Rows)
			return nil
		})
		require.NoError(t, err)
		require.Equal(t, 1000, written)
	}
}

// TestWriteFailsWhileTheInputBlocks: nobody waits for a terminal then.
func TestWriteFailsWhileTheInputBlocks(t *testing.T) {
	full := errors.New("full")
	in, feed := io.Pipe()
	t.Cleanup(func() { _ = feed.Close() }) // lets go of who reads
	h := newHarness(t, in, "--stages", "none", "--batch", "1")
	go func() { _, _ = io.WriteString(feed, numbers(1)) }()
	_, err := drive(h.engine, h.plan, func(*batch) error { return full })
	require.ErrorIs(t, err, full)
	require.NotErrorIs(t, err, pipeline.ErrStuck, "it waited, and gave up")
}

// TestPanicHasItsStack: it is no error of the data, so its stage is told besides.
func TestPanicHasItsStack(t *testing.T) {
	h := newHarness(t, strings.NewReader(numbers(9)))
	h.in.pause = func() { panic("planted") }
	_, err := drive(h.engine, h.plan, func(*batch) error { return nil })
	require.ErrorIs(t, err, pipeline.ErrPanic)
	require.ErrorContains(t, err, "lines: element 0 of epoch 0: ")
	require.ErrorContains(t, err, "planted")
	require.ErrorContains(t, err, "engine_test.go")
}

// TestDebugLog has a message of the state now and then, and one a stage at the end.
func TestDebugLog(t *testing.T) {
	var b bytes.Buffer
	m := &messages{out: &b}
	h := newHarness(t, strings.NewReader(numbers(5)), "--stages", "none", "--batch", "1")
	h.engine.log = newLogger(m, slog.LevelDebug, false)
	h.engine.interval = time.Millisecond
	logged := func() bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		return strings.Contains(b.String(), "msg=engine written=")
	}
	_, err := drive(h.engine, h.plan, func(*batch) error {
		require.Eventually(t, logged, 30*time.Second, time.Millisecond)
		return nil
	})
	require.NoError(t, err)
	require.Contains(t, b.String(), "queue_scan=")
	for _, stage := range []string{"lines in=0 out=5", "decode in=5 out=5", "scan", "resolve in=5 out=5", "emit in=5 out=5"} {
		require.Contains(t, b.String(), "msg=stage name="+stage)
	}

	r := inProcess(t, numbers(5), "run", "-", "--log-level", "info")
	require.NotContains(t, r.err, "msg=stage")
}

// TestNoAllocationPerRecord compares a run with one of three times as many records: what
// is allocated for a batch is little for each of its records.
func TestNoAllocationPerRecord(t *testing.T) {
	const perBatch, few, many = 1000, 20, 60
	for _, args := range [][]string{nil, {"--shuffle", "1500"}} {
		if args != nil && testing.Short() {
			continue // pools forget on purpose under the race detector
		}
		run := func(batches int) int64 {
			var in strings.Builder
			for i := range batches * perBatch {
				fmt.Fprintf(&in, `{"id":"%07d","text":"some text that is %d bytes long or more"}`+"\n", i, i)
			}
			h := newHarness(t, strings.NewReader(in.String()), append([]string{"--workers", "1", "--prefetch", "2",
				"--dedup", "off", "--batch", fmt.Sprint(perBatch)}, args...)...)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			written := 0
			_, err := drive(h.engine, h.plan, func(b *batch) error {
				written += len(b.result.Rows)
				h.writer.pool.put(b)
				return nil
			})
			runtime.ReadMemStats(&after)
			require.NoError(t, err)
			require.Equal(t, batches*perBatch, written)
			return int64(after.Mallocs - before.Mallocs)
		}
		more := run(many) - run(few)
		// The collector may empty the pools of a shuffle once in a while.
		require.Less(t, more, int64((many-few)*perBatch/4), "args %v", args)
	}
}
