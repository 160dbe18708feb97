package pipeline

import (
	"fmt"
	"strings"
	"time"
)

// Stats tells how a run goes. While it runs the numbers are those of a moment ago,
// and need not fit together; once no goroutine is left they are exact.
type Stats struct {
	Delivered int64         // elements that Next returned, also before the pipeline was resumed
	Epoch     int64         // see [Iterator.Epoch]
	Elapsed   time.Duration // since the start, up to the end
	Waited    time.Duration // that Next waited
	Workers   int           // goroutines
	InFlight  int           // elements between the source and the consumer
	Bytes     int64         // their size, if it is known
	Padded    int64         // elements that the source repeated as padding, see Pad
	Stages    []StageStats
}

// StageStats tells how a stage goes.
type StageStats struct {
	Name   string // of the stage, unique in the pipeline
	In     int64  // elements; 0 for the source
	Out    int64
	Bytes  int64 // of what came out, where the type says it: see Sizer and SizeOf
	Errors map[ErrorKind]int64
	Busy   time.Duration // in functions of the user, of all workers together; for the source also waiting
	// WaitIn and WaitOut are how long the stage's goroutine had no input, and no room
	// for its output. They are 0 for a stage that runs on the workers.
	WaitIn, WaitOut time.Duration
	Queue           QueueStats // behind the stage; zero if the next stage follows at once
}

// QueueStats tells how full a queue is, in chunks, those being worked on included.
type QueueStats struct {
	Depth, Peak, Limit int
	Mean               float64 // when a chunk was taken
}

// Stats returns what is known now.
func (it *Iterator[T]) Stats() Stats {
	s := Stats{Delivered: it.delivered.Load(), Epoch: it.Epoch()}
	r := it.run
	s.Elapsed = time.Since(r.started)
	if ended := r.ended.Load(); ended != 0 {
		s.Elapsed = time.Duration(ended)
	}
	s.Waited = time.Duration(r.consumerWait.Load())
	s.Workers = int(r.running.Load())
	over := false // no goroutine is left, so nothing is on its way
	select {
	case <-r.finished:
		over = it.Done() || it.queue.ended.Load()
	default:
	}
	if !over {
		s.InFlight, s.Bytes = r.budget.inFlight()
	}
	s.Padded = r.stages[0].padded.Load()
	for _, st := range r.stages {
		out := StageStats{
			Name: st.name, In: st.in.Load(), Out: st.out.Load(), Bytes: st.bytes.Load(),
			Busy:   time.Duration(st.busy.Load()),
			WaitIn: time.Duration(st.waitIn.Load()), WaitOut: time.Duration(st.waitOut.Load()),
			Errors: map[ErrorKind]int64{},
		}
		for k := range st.errors {
			if n := st.errors[k].Load(); n > 0 {
				out.Errors[ErrorKind(k)] = n
			}
		}
		s.Stages = append(s.Stages, out)
	}
	for _, q := range r.queues {
		last := q.before.index + len(q.stages)
		qs := QueueStats{Peak: int(q.peak.Load()), Limit: cap(q.window)}
		if n := q.takes.Load(); n > 0 {
			qs.Mean = float64(q.seen.Load()) / float64(n)
		}
		if !over {
			qs.Depth = int(q.depth.Load())
		}
		s.Stages[last].Queue = qs
	}
	return s
}

// ErrorCount is the number of elements that stages left out, or failed at.
func (s Stats) ErrorCount() int64 {
	var n int64
	for _, st := range s.Stages {
		for _, k := range st.Errors {
			n += k
		}
	}
	return n
}

// String is a table of the stages.
func (s Stats) String() string {
	var b strings.Builder
	rate := 0.0
	if s.Elapsed > 0 {
		rate = float64(s.Delivered) / s.Elapsed.Seconds()
	}
	fmt.Fprintf(&b, "%d delivered in %v (%.0f/s), %d errors\n", s.Delivered, s.Elapsed.Round(time.Millisecond), rate, s.ErrorCount())
	for _, st := range s.Stages {
		fmt.Fprintf(&b, "  %-16s in %d out %d busy %v wait in %v out %v queue %d/%d\n", st.Name, st.In, st.Out,
			st.Busy.Round(time.Millisecond), st.WaitIn.Round(time.Millisecond), st.WaitOut.Round(time.Millisecond),
			st.Queue.Depth, st.Queue.Limit)
	}
	return b.String()
}
