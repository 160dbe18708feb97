package pipeline

import (
	"fmt"
	"reflect"
	"strings"
	"sync/atomic"
)

// stageKind says how a stage runs.
type stageKind uint8

const (
	kindFeed     stageKind = iota // the source
	kindParallel                  // by any worker, on any chunk
	kindSerial                    // by one goroutine, in the order of the stream
	kindReplay                    // as kindSerial, but it asks for its input: the cache
)

// stageSpec is a stage of a plan. Of the functions one is set, by kind.
type stageSpec struct {
	kind  stageKind
	name  string // what it is
	label string // what the user calls it, if anything
	param string // with the name, part of what a state is held against
	laps  int64  // how many epochs of its input make one of its output; 0 is 1

	collate any  // the function of a collate stage
	missing bool // there is none

	shuffles bool

	parallel func(st *stage) applyFunc
	// The others go on behind a mark, which may be nil, and leave out the first skip
	// outputs.
	serial func(st *stage, restored *mark, skip uint32) (serial, error)
	replay func(st *stage, in *queue, restored *mark, skip uint32) (replayer, error)
	feed   func(st *stage, out *station, restored *mark, skip uint32) (feed, error)
}

// applyFunc works on a chunk and returns what comes of it.
type applyFunc func(w *worker, c carrier) carrier

// serial is a stage that runs in order.
type serial interface {
	// feed takes a chunk of the input and returns one of the output.
	feed(w *worker, c carrier) carrier
	// resume is told the mark that the stage goes on behind.
	resume(m *mark)
}

// replayer is a stage that runs in order and asks for its input.
type replayer interface {
	quitter
	// next returns the next chunk, nil when the stream was abandoned.
	next(w *worker) carrier
}

// feed is the source at work.
type feed interface {
	quitter
	run()
}

// quitter is what gives out elements by itself: the source, or a cache.
type quitter interface {
	// quit says that no more of an epoch is needed.
	quit(epoch int64)
	// stop ends the stream behind what has been read, or given out again.
	stop()
}

// stage is a stage of a run.
type stage struct {
	run    *run
	index  int    // in the plan
	id     string // what it is, unique; in states
	name   string // what the user calls it, unique; else the same
	epochs int64  // of its output; 0 is endless
	laps   int64  // how many of its epochs make one of the output of the pipeline
	across bool   // it makes one value of several epochs
	cut    uint64 // 1 and how many values it had been given when an error made it give out all; see [mark.cut]

	in, out, bytes atomic.Int64
	errors         [kindCount]atomic.Int64
	inRow          atomic.Int64 // errors since an element passed
	busy           atomic.Int64 // nanoseconds
	waitIn         atomic.Int64 // nanoseconds without input
	waitOut        atomic.Int64 // nanoseconds without room for the output
	padded         atomic.Int64 // elements of a source that are padding
}

// fault deals with an error about an element under the policy. If the stream has
// to end there it returns the error that ends it, as [reported].
func (st *stage) fault(kind ErrorKind, epoch int64, m meta, err error) error {
	if r, ok := err.(reported); ok {
		return r
	}
	err = sound(err)
	fault := &StageError{Stage: st.name, Kind: kindOf(err, kind), Epoch: epoch, Index: m.origin, Err: err}
	st.errors[fault.Kind].Add(1)
	r := st.run
	if r.cfg.policy != Skip || isMarked(err) {
		return reported{fault}
	}
	r.offer(fault)
	if n := st.inRow.Add(1); n >= int64(r.cfg.maxErrorsInRow) {
		return reported{fmt.Errorf("%w: %d at %s; the last: %w", ErrTooManyErrors, n, st.name, fault)}
	}
	return nil
}

// passed says that elements passed.
func (st *stage) passed() {
	if st.inRow.Load() != 0 {
		st.inRow.Store(0)
	}
}

// quit tells the source, or the cache before this stage, that no more of an epoch
// of this stage is needed.
func (st *stage) quit(epoch int64) {
	r := st.run
	for i := st.index - 1; i >= 0; i-- {
		up := r.stages[i]
		if up.across {
			return // the rest goes into what it makes of the next epoch
		}
		if q := r.quitters[i]; q != nil {
			q.quit((epoch+1)*(up.laps/st.laps) - 1)
			return
		}
	}
}

// final reports whether epoch is the last of this stage.
func (st *stage) final(epoch int64) bool { return st.epochs > 0 && epoch == st.epochs-1 }

// nameOf is the name of a user's source or transform.
func nameOf(v any) string {
	if n, ok := v.(Named); ok {
		if name := n.Name(); name != "" {
			return name
		}
	}
	name := strings.TrimLeft(reflect.TypeOf(v).String(), "*")
	if i := strings.IndexByte(name, '['); i >= 0 {
		name = name[:i]
	}
	return name[strings.LastIndexByte(name, '.')+1:]
}

// describe says which data set a source is.
func describe(src any) string {
	if d, ok := src.(Describer); ok {
		return d.Describe()
	}
	return nameOf(src)
}
