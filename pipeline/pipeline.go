package pipeline

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// Pipeline is the plan of a pipeline whose elements are T. Its methods return a
// plan with one more stage, or with another option, and leave the plan they are called on
// as it was. A plan can be started any number of times, and is safe for concurrent use.
//
// Go methods cannot change the type of the elements: the stages that do are functions,
// like [Map] and [BatchRaw].
type Pipeline[T any] struct{ plan }

// plan is a pipeline whatever its elements are.
type plan struct {
	cfg    config
	stages []stageSpec
	wrong  []string // what is wrong with the stages
	source any
	sized  bool // the size of the source's elements is known
	// collated is the index of the last stage that collates, −1 if there is none.
	collated int
	batches  bool
}

// then returns the plan with one more stage.
func (p plan) then(s stageSpec) plan {
	p.stages = append(slices.Clip(p.stages), s)
	return p
}

// complain returns the plan with one more thing that is wrong.
func (p plan) complain(format string, args ...any) plan {
	p.wrong = append(slices.Clip(p.wrong), fmt.Sprintf(format, args...))
	return p
}

// From begins a pipeline with a source.
func From[T any](src Source[T]) *Pipeline[T] {
	p := plan{cfg: defaultConfig(), source: src, collated: -1}
	if src == nil {
		p = p.complain("From(nil): there is no source")
		p.stages = []stageSpec{{kind: kindFeed, name: "source"}}
		return &Pipeline[T]{p}
	}
	return fed(p, src, nil, sizeOf[T]())
}

// FromAsync begins a pipeline with a source that pushes.
func FromAsync[T any](src AsyncSource[T]) *Pipeline[T] {
	p := plan{cfg: defaultConfig(), source: src, collated: -1}
	if src == nil {
		p = p.complain("FromAsync(nil): there is no source")
		p.stages = []stageSpec{{kind: kindFeed, name: "source"}}
		return &Pipeline[T]{p}
	}
	return fed(p, nil, src, sizeOf[T]())
}

// fed makes the first stage.
func fed[T any](p plan, src Source[T], async AsyncSource[T], size func(*T) int64) *Pipeline[T] {
	p.sized = size != nil
	spec := stageSpec{kind: kindFeed, name: "source"}
	if err := guard(func() error {
		spec.name, spec.param = nameOf(p.source), describe(p.source)
		return nil
	}); err != nil {
		p = p.complain("the source cannot say what it is: %v", err)
	}
	spec.feed = func(st *stage, out *station, restored *mark, skip uint32) (feed, error) {
		from := src
		if s := st.run.cfg.sharding; s != nil {
			files, ok := any(src).(FileSharder[T])
			if st.run.cfg.byFile && ok {
				from = &fileSharded[T]{src: files, Sharding: *s}
			} else {
				from = Sharded(src, *s)
			}
		}
		return newFeeder(st, out, from, async, size, restored, skip)
	}
	if _, ok := any(src).(FileSharder[T]); ok {
		p.cfg.canShardFiles = true
	}
	p.cfg.isAsync = async != nil
	p.stages = []stageSpec{spec}
	return &Pipeline[T]{p}
}

// sizeOf is the size of elements that say it themselves; nil if T does not. It goes by
// pointers, which cost no allocation.
func sizeOf[T any]() func(*T) int64 {
	switch any(new(T)).(type) {
	case Sizer:
		return func(v *T) int64 { return any(v).(Sizer).Size() }
	case *[]byte:
		return func(v *T) int64 { return int64(len(*any(v).(*[]byte))) }
	case *string:
		return func(v *T) int64 { return int64(len(*any(v).(*string))) }
	}
	var v T
	if _, ok := any(v).(Sizer); ok { // T is a pointer
		return func(v *T) int64 { return any(*v).(Sizer).Size() }
	}
	return nil
}

// SizeOf says how large the elements of the source are, in bytes, for
// [Pipeline.PrefetchBytes] and statistics. It comes right after From.
func (p *Pipeline[T]) SizeOf(size func(T) int64) *Pipeline[T] {
	if len(p.stages) != 1 {
		return &Pipeline[T]{p.complain("SizeOf comes right after From, before any stage")}
	}
	if size == nil {
		return &Pipeline[T]{p.complain("SizeOf(nil): there is no function")}
	}
	if len(p.wrong) > 0 {
		return p
	}
	var out *Pipeline[T]
	if p.cfg.isAsync {
		out = fed(p.plan, nil, p.source.(AsyncSource[T]), func(v *T) int64 { return size(*v) })
	} else {
		out = fed(p.plan, p.source.(Source[T]), nil, func(v *T) int64 { return size(*v) })
	}
	out.stages[0].label = p.stages[0].label
	return out
}

// Map applies f to each element. It is called by several workers at once: where f takes
// more than a millisecond or so, set [Pipeline.ChunkSize] to 1, or else one worker gets
// many elements before the next one has any.
func (p *Pipeline[T]) Map(f func(T) (T, error)) *Pipeline[T] {
	if f == nil {
		return &Pipeline[T]{p.complain("Map(nil): there is no function")}
	}
	return &Pipeline[T]{p.then(stageSpec{kind: kindParallel, name: "map", parallel: func(st *stage) applyFunc {
		m := &mapping[T]{st: st, size: sizeOf[T](), call: func(v *T) (bool, error) {
			out, err := f(*v)
			if err == nil {
				*v = out
			}
			return true, err
		}}
		return m.apply
	}})}
}

// MapRand applies f to each element, with a source of random numbers that
// depends on (seed, epoch, element) alone: not on workers, ranks or what is resumed. f must not
// keep rng.
func (p *Pipeline[T]) MapRand(f func(rng *rand.Rand, v T) (T, error)) *Pipeline[T] {
	if f == nil {
		return &Pipeline[T]{p.complain("MapRand(nil): there is no function")}
	}
	return &Pipeline[T]{p.then(stageSpec{kind: kindParallel, name: "maprand", parallel: func(st *stage) applyFunc {
		m := &mapping[T]{st: st, size: sizeOf[T](), random: func(rng *rand.Rand, v *T) (bool, error) {
			out, err := f(rng, *v)
			if err == nil {
				*v = out
			}
			return true, err
		}}
		return m.apply
	}})}
}

// Filter keeps the elements for which keep returns true. It is called by several
// workers at once.
func (p *Pipeline[T]) Filter(keep func(T) bool) *Pipeline[T] {
	if keep == nil {
		return &Pipeline[T]{p.complain("Filter(nil): there is no function")}
	}
	return &Pipeline[T]{p.then(stageSpec{kind: kindParallel, name: "filter", parallel: func(st *stage) applyFunc {
		m := &mapping[T]{st: st, size: sizeOf[T](), call: func(v *T) (bool, error) { return keep(*v), nil }}
		return m.apply
	}})}
}

// FlatMap replaces each element by those that f returns, in their order. It is
// called by several workers at once; the slice must not be used for another element before
// the pipeline has read it, so f should not use it again.
func (p *Pipeline[T]) FlatMap(f func(T) ([]T, error)) *Pipeline[T] { return FlatMap(p, f) }

// Transform applies t to each element.
func (p *Pipeline[T]) Transform(t Transform[T, T]) *Pipeline[T] { return Apply(p, t) }

// Stateful gives the elements to a transform that remembers; make makes one for each
// epoch.
func (p *Pipeline[T]) Stateful(make func() StatefulTransform[T, T]) *Pipeline[T] {
	return ApplyStateful(p, make)
}

// Map applies f to each element of p. It is called by several workers at once.
func Map[T, U any](p *Pipeline[T], f func(T) (U, error)) *Pipeline[U] {
	if f == nil {
		return &Pipeline[U]{p.complain("Map(nil): there is no function")}
	}
	return &Pipeline[U]{p.then(stageSpec{kind: kindParallel, name: "map", parallel: func(st *stage) applyFunc {
		return (&conversion[T, U]{st: st, size: sizeOf[U](), kind: KindTransform, one: f}).apply
	}})}
}

// FlatMap replaces each element of p by those that f returns, in their order. It
// is called by several workers at once.
func FlatMap[T, U any](p *Pipeline[T], f func(T) ([]U, error)) *Pipeline[U] {
	if f == nil {
		return &Pipeline[U]{p.complain("FlatMap(nil): there is no function")}
	}
	return &Pipeline[U]{p.then(stageSpec{kind: kindParallel, name: "flatmap", parallel: func(st *stage) applyFunc {
		return (&conversion[T, U]{st: st, size: sizeOf[U](), kind: KindTransform, call: func(_ origin, v T, emit func(U)) error {
			many, err := f(v)
			if err != nil {
				return err
			}
			for _, u := range many {
				emit(u)
			}
			return nil
		}}).apply
	}})}
}

// Apply applies t to each element of p.
func Apply[T, U any](p *Pipeline[T], t Transform[T, U]) *Pipeline[U] {
	if t == nil {
		return &Pipeline[U]{p.complain("Apply(nil): there is no transform")}
	}
	name, out := "transform", p.plan
	if err := guard(func() error { name = strings.ToLower(nameOf(t)); return nil }); err != nil {
		out = out.complain("a transform cannot say its name: %v", err)
	}
	return &Pipeline[U]{out.then(stageSpec{kind: kindParallel, name: name, parallel: func(st *stage) applyFunc {
		return (&conversion[T, U]{st: st, size: sizeOf[U](), kind: KindTransform, call: func(o origin, v T, emit func(U)) error {
			return t.Apply(o.ctx, v, emit)
		}}).apply
	}})}
}

// ApplyStateful gives the elements of p to a transform that remembers; make makes
// one for each epoch.
func ApplyStateful[T, U any](p *Pipeline[T], make func() StatefulTransform[T, U]) *Pipeline[U] {
	if make == nil {
		return &Pipeline[U]{p.complain("ApplyStateful(nil): there is no transform")}
	}
	return &Pipeline[U]{p.then(serialSpec("stateful", "", func(st *stage, restored *mark, skip uint32) (serial, error) {
		op, err := newStateful(st, make, restored)
		if err != nil {
			return nil, err
		}
		return newSerial(st, op, skip), nil
	}))}
}

func serialSpec(name, param string, open func(*stage, *mark, uint32) (serial, error)) stageSpec {
	return stageSpec{kind: kindSerial, name: name, param: param, serial: open}
}

// Shuffle changes the order within a buffer of that many elements: an element
// leaves at random when another comes. 0 is 1, which leaves the order as it is. The order
// depends on (seed, epoch, shard) alone.
func (p *Pipeline[T]) Shuffle(buffer int) *Pipeline[T] {
	if buffer < 0 {
		return &Pipeline[T]{p.complain("Shuffle(%d) is negative", buffer)}
	}
	buffer = max(buffer, 1)
	spec := serialSpec("shuffle", strconv.Itoa(buffer), func(st *stage, restored *mark, skip uint32) (serial, error) {
		op, err := newShuffling[T](st, buffer, restored)
		if err != nil {
			return nil, err
		}
		return newSerial(st, op, skip), nil
	})
	spec.shuffles = true
	return &Pipeline[T]{p.then(spec)}
}

// BatchRaw groups elements: each n of them become one slice, which is the
// receiver's to keep. The last batch of an epoch may be shorter, see [Pipeline.DropLast];
// 0 is 1.
func BatchRaw[T any](p *Pipeline[T], n int) *Pipeline[[]T] {
	out := p.plan
	if n < 0 {
		out = out.complain("BatchRaw(%d) is negative", n)
	}
	return &Pipeline[[]T]{out.batch(groupingSpec[T](max(n, 1)))}
}

// batch adds a stage that makes batches.
func (p plan) batch(s stageSpec) plan {
	p = p.then(s)
	p.batches = true
	return p
}

func groupingSpec[T any](n int) stageSpec {
	return serialSpec("batch", strconv.Itoa(n), func(st *stage, restored *mark, skip uint32) (serial, error) {
		cfg := &st.run.cfg
		st.across = cfg.straddle
		op := &grouping[T]{n: n, dropLast: cfg.dropLast, straddle: cfg.straddle}
		s := newSerial(st, op, skip)
		err := restored.restore(&op.groupingState)
		s.begun = op.Epoch
		return s, err
	})
}

// Batch groups n elements and makes one of them, by the function given to
// [Pipeline.Collate], or else by the CollateBatch that T has, see [Collatable]. The last
// batch of an epoch may be of fewer elements, see [Pipeline.DropLast]; 0 is 1.
func (p *Pipeline[T]) Batch(n int) *Pipeline[T] {
	out := p.plan
	if n < 0 {
		out = out.complain("Batch(%d) is negative", n)
	}
	out = out.batch(groupingSpec[T](max(n, 1)))
	out.collated = len(out.stages)
	var v T
	var collate func([]T) (T, error)
	if c, ok := any(v).(Collatable[T]); ok {
		collate = c.CollateBatch
	}
	return &Pipeline[T]{out.then(collateSpec(collate))}
}

// Collate sets the function that makes one element of each batch of the last Batch. It
// is called by several workers at once. Under [Skip] a batch that fails falls back to the
// elements that go together; see [ItemError]. Where the error names none, f is called up to
// about 17 times for each element of such a batch to find them.
func (p *Pipeline[T]) Collate(f func([]T) (T, error)) *Pipeline[T] {
	switch {
	case f == nil:
		return &Pipeline[T]{p.complain("Collate(nil): there is no function")}
	case p.collated < 0:
		return &Pipeline[T]{p.complain("Collate needs a Batch before it")}
	}
	out := p.plan
	if _, ok := out.stages[out.collated].collate.(func([]T) (T, error)); !ok {
		return &Pipeline[T]{p.complain("Collate comes after its Batch, before the type of the elements changes")}
	}
	out.stages = slices.Clone(out.stages)
	out.stages[out.collated] = collateSpec(f)
	return &Pipeline[T]{out}
}

func collateSpec[T any](collate func([]T) (T, error)) stageSpec {
	return stageSpec{kind: kindParallel, name: "collate", collate: collate, missing: collate == nil, parallel: func(st *stage) applyFunc {
		return (&conversion[[]T, T]{st: st, size: sizeOf[T](), kind: KindCollate, call: collated(st, collate)}).apply
	}}
}

// Collate makes one element of each batch of p, of another type than its elements; see
// [Pipeline.Collate].
func Collate[T, U any](p *Pipeline[[]T], f func([]T) (U, error)) *Pipeline[U] {
	if f == nil {
		return &Pipeline[U]{p.complain("Collate(nil): there is no function")}
	}
	return &Pipeline[U]{p.then(stageSpec{kind: kindParallel, name: "collate", parallel: func(st *stage) applyFunc {
		return (&conversion[[]T, U]{st: st, size: sizeOf[U](), kind: KindCollate, call: collated(st, f)}).apply
	}})}
}

// DropLast leaves out the batches of an epoch that are not full.
func (p *Pipeline[T]) DropLast() *Pipeline[T] {
	return p.with(func(c *config) { c.dropLast = true })
}

// AcrossEpochs lets batches go over from one epoch to the next. By default the last
// batch of an epoch is shorter.
func (p *Pipeline[T]) AcrossEpochs() *Pipeline[T] {
	return p.with(func(c *config) { c.straddle = true })
}

// Take ends each epoch after n elements. Of an endless pipeline, that is n elements again
// and again.
func (p *Pipeline[T]) Take(n int64) *Pipeline[T] {
	if n < 0 {
		return &Pipeline[T]{p.complain("Take(%d) is negative", n)}
	}
	return &Pipeline[T]{p.then(serialSpec("take", strconv.FormatInt(n, 10), func(st *stage, restored *mark, skip uint32) (serial, error) {
		op := &taking[T]{n: uint64(n)}
		return newSerial(st, op, skip), restored.restore(&op.limitState)
	}))}
}

// Skip leaves out the first n elements of each epoch. See [Pipeline.OnError] for
// skipping bad ones.
func (p *Pipeline[T]) Skip(n int64) *Pipeline[T] {
	if n < 0 {
		return &Pipeline[T]{p.complain("Skip(%d) is negative", n)}
	}
	return &Pipeline[T]{p.then(serialSpec("skip", strconv.FormatInt(n, 10), func(st *stage, restored *mark, skip uint32) (serial, error) {
		op := &skipping[T]{n: uint64(n)}
		return newSerial(st, op, skip), restored.restore(&op.limitState)
	}))}
}

// Repeat makes one epoch of n epochs of what comes before it, each of which has an
// order of its own if it is shuffled; 0 is 1.
func (p *Pipeline[T]) Repeat(n int) *Pipeline[T] {
	if n < 0 {
		return &Pipeline[T]{p.complain("Repeat(%d) is negative", n)}
	}
	n = max(n, 1)
	return &Pipeline[T]{p.then(stageSpec{kind: kindParallel, name: "repeat", param: strconv.Itoa(n), laps: int64(n), parallel: func(st *stage) applyFunc {
		return (&lap[T]{st, int64(n)}).apply
	}})}
}

// Cache keeps the elements in memory: what comes before it runs once, and later
// epochs have the same elements in the same order, unless they are shuffled behind it.
// Elements must not be changed behind it: every epoch gets the same ones. Those that
// come out of memory do not count for Prefetch and PrefetchBytes. A pipeline that is
// resumed fills it again.
func (p *Pipeline[T]) Cache() *Pipeline[T] {
	return &Pipeline[T]{p.then(stageSpec{kind: kindReplay, name: "cache", replay: func(st *stage, in *queue, restored *mark, skip uint32) (replayer, error) {
		return newCaching[T](st, in, restored, skip)
	}})}
}

// Named gives the last stage a name, for errors, statistics and traces. States do
// not depend on it.
func (p *Pipeline[T]) Named(name string) *Pipeline[T] {
	out := p.plan
	if len(out.stages) == 0 {
		return p
	}
	out.stages = slices.Clone(out.stages)
	out.stages[len(out.stages)-1].label = name
	return &Pipeline[T]{out}
}

// validate checks the plan and makes its options final.
func (p plan) validate() (plan, error) {
	if len(p.stages) == 0 {
		return p, fmt.Errorf("%w: begin with From or FromAsync", ErrConfig)
	}
	wrong := slices.Concat(p.wrong, p.cfg.validate())
	for _, s := range p.stages {
		if s.missing {
			wrong = append(wrong, "Batch has nothing to collate with: the type of the elements has no CollateBatch; use Collate, or BatchRaw")
		}
	}
	switch {
	case p.cfg.dropLast && !p.batches:
		wrong = append(wrong, "DropLast needs a Batch")
	case p.cfg.straddle && !p.batches:
		wrong = append(wrong, "AcrossEpochs needs a Batch")
	}
	epochs := max(p.cfg.epochs, 1)
	for _, s := range p.stages {
		if n := max(s.laps, 1); epochs > math.MaxInt64/n {
			wrong = append(wrong, "Epochs and Repeat together make too many epochs")
			break
		} else {
			epochs *= n
		}
	}
	if p.cfg.prefetchBytes > 0 && !p.sized {
		wrong = append(wrong, "PrefetchBytes needs to know how large elements are: use SizeOf")
	}
	if p.cfg.sharding != nil {
		if p.cfg.isAsync {
			wrong = append(wrong, "Shard needs a Source, not an AsyncSource")
		}
		if !p.cfg.sharded {
			wrong = append(wrong, "ShardMode needs Shard")
		}
		if p.cfg.byFile && !p.cfg.canShardFiles {
			wrong = append(wrong, "ShardFiles needs a source that can be split by file")
		}
	}
	if p.cfg.canonical > 0 {
		wrong = append(wrong, p.validateCanonical()...)
	}
	if len(wrong) > 0 {
		return p, fmt.Errorf("%w: %s", ErrConfig, strings.Join(wrong, "; "))
	}
	return p, nil
}

// validateCanonical finds stages before a shuffle that depend on which elements the
// rank has.
func (p plan) validateCanonical() []string {
	for i := len(p.stages) - 1; i > 0; i-- {
		if !p.stages[i].shuffles {
			continue
		}
		for _, before := range p.stages[1:i] {
			if before.kind != kindParallel || before.laps > 1 {
				return []string{fmt.Sprintf("CanonicalShards needs the Shuffle before %s", before.name)}
			}
		}
	}
	return nil
}

// Start starts the pipeline. The error wraps [ErrConfig] and lists all that is
// wrong. ctx ends the stream: Next then returns its cause.
func (p *Pipeline[T]) Start(ctx context.Context) (*Iterator[T], error) {
	return start[T](ctx, p.plan, nil)
}

// Resume starts the pipeline behind what the consumer had received when
// [Iterator.State] made state. The error wraps [ErrConfig], [ErrState] or [ErrStateMismatch].
// Workers, Prefetch, ChunkSize and the timeouts may differ, and Epochs except under
// AcrossEpochs; functions of the user must give the same results as then.
func (p *Pipeline[T]) Resume(ctx context.Context, state []byte) (*Iterator[T], error) {
	s, err := parseState(state)
	if err != nil {
		return nil, err
	}
	return start[T](ctx, p.plan, s)
}
