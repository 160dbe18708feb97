package pipeline

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"

	"pgregory.net/rapid"
)

// The model is the engine as lists: every stage takes the list of the epochs of its
// input and makes that of its output, one element after the other.

// modelValue is an element; origin is where in the epoch of the source it came from,
// −1 where that is not said.
type modelValue struct {
	rec
	origin int64
}

// modelEpoch is an epoch, whole if err is nil.
type modelEpoch struct {
	values []modelValue
	err    *StageError // ends the stream; without its reason
}

// modelPlan is a plan for both, the model and the engine.
type modelPlan struct {
	src       numbers
	async     bool
	seed      uint64
	epochs    int // 0 is endless
	policy    Policy
	faults    bool // functions fail at chosen elements
	sharding  *Sharding
	byFile    bool
	canonical int
	dropLast  bool
	straddle  bool
	hold      bool // HoldOnError
	stages    []modelStage
	nothing   bool // an endless stream repeats nothing for ever
}

// modelStage is a stage for both. The model of it makes epochs of epochs; at is its index
// in the plan of the engine, and name its name there.
type modelStage struct {
	kind  string
	inner string // the kind of the second stage, of two
	n     int
	build func(*Pipeline[rec]) *Pipeline[rec]
	model func(m *modelPlan, name string, at int, in []modelEpoch, endless bool) []modelEpoch
}

// modelHorizon is how many epochs of an endless stream are compared.
const modelHorizon = 4

// chosen picks elements for which something happens.
func chosen(r rec, salt uint64, of uint64) bool {
	return len(r.V) > 0 && mix(uint64(r.V[0]), salt)%of == 0
}

// each is the model of a stage that works on one element at a time.
func each(kind ErrorKind, f func(rec) ([]rec, bool)) func(*modelPlan, string, int, []modelEpoch, bool) []modelEpoch {
	return func(m *modelPlan, name string, _ int, in []modelEpoch, _ bool) []modelEpoch {
		var out []modelEpoch
		for e, epoch := range in {
			next := modelEpoch{err: epoch.err}
			for _, v := range epoch.values {
				made, ok := f(v.rec)
				if !ok {
					if m.policy == Skip {
						continue
					}
					next.err = &StageError{Stage: name, Kind: kind, Epoch: int64(e), Index: uint64(v.origin)}
					break
				}
				for _, r := range made {
					next.values = append(next.values, modelValue{r, v.origin})
				}
			}
			out = append(out, next)
			if next.err != nil {
				break
			}
		}
		return out
	}
}

// epochwise is the model of a stage that works on one epoch at a time.
func epochwise(f func(epoch int, in []modelValue) []modelValue) func(*modelPlan, string, int, []modelEpoch, bool) []modelEpoch {
	return func(_ *modelPlan, _ string, _ int, in []modelEpoch, _ bool) []modelEpoch {
		var out []modelEpoch
		for e, epoch := range in {
			out = append(out, modelEpoch{f(e, epoch.values), epoch.err})
		}
		return out
	}
}

func mapStage(faults bool, panics bool) modelStage {
	kind := KindTransform
	if panics {
		kind = KindPanic
	}
	f := func(r rec) ([]rec, bool) {
		if faults && chosen(r, 1, 23) {
			return nil, false
		}
		out := rec{Pad: r.Pad, Rand: r.Rand}
		for _, v := range r.V {
			out.V = append(out.V, 3*v+1)
		}
		return []rec{out}, true
	}
	return modelStage{kind: "map", build: func(p *Pipeline[rec]) *Pipeline[rec] {
		return p.Map(func(r rec) (rec, error) {
			doze()
			out, ok := f(r)
			if !ok && panics {
				panic("chosen")
			} else if !ok {
				return rec{}, errBad
			}
			return out[0], nil
		})
	}, model: each(kind, f)}
}

func filterStage(n int) modelStage {
	keep := func(r rec) bool { return len(r.V) == 0 || !chosen(r, 2, uint64(n)) }
	return modelStage{kind: "filter", build: func(p *Pipeline[rec]) *Pipeline[rec] {
		return p.Filter(keep)
	}, model: each(KindTransform, func(r rec) ([]rec, bool) {
		if keep(r) {
			return []rec{r}, true
		}
		return nil, true
	})}
}

func flatMapStage(faults bool) modelStage {
	f := func(r rec) ([]rec, bool) {
		if faults && chosen(r, 3, 29) {
			return nil, false
		}
		var out []rec
		for i := range len(r.V) + r.V[0]%3 {
			out = append(out, rec{V: append(slices.Clone(r.V), i), Rand: r.Rand, Pad: r.Pad})
		}
		return out, true
	}
	return modelStage{kind: "flatmap", build: func(p *Pipeline[rec]) *Pipeline[rec] {
		return p.FlatMap(func(r rec) ([]rec, error) {
			doze()
			if out, ok := f(r); ok {
				return out, nil
			}
			return nil, errBad
		})
	}, model: each(KindTransform, f)}
}

func randStage() modelStage {
	return modelStage{kind: "maprand", build: func(p *Pipeline[rec]) *Pipeline[rec] {
		return p.MapRand(func(rng *rand.Rand, r rec) (rec, error) {
			r.Rand ^= rng.Uint64()
			return r, nil
		})
	}, model: each(KindTransform, func(r rec) ([]rec, bool) { return []rec{r}, true })}
}

func takeStage(n int) modelStage {
	return modelStage{kind: "take", n: n, build: func(p *Pipeline[rec]) *Pipeline[rec] {
		return p.Take(int64(n))
	}, model: func(_ *modelPlan, _ string, _ int, in []modelEpoch, _ bool) []modelEpoch {
		var out []modelEpoch
		for _, epoch := range in {
			if len(epoch.values) > 0 && len(epoch.values) >= n {
				epoch = modelEpoch{values: epoch.values[:n]} // an error behind is not of the stream
			}
			out = append(out, epoch)
		}
		return out
	}}
}

func skipStage(n int) modelStage {
	return modelStage{kind: "skip", build: func(p *Pipeline[rec]) *Pipeline[rec] {
		return p.Skip(int64(n))
	}, model: epochwise(func(_ int, in []modelValue) []modelValue { return in[min(n, len(in)):] })}
}

func shuffleStage(n int) modelStage {
	return modelStage{kind: "shuffle", build: func(p *Pipeline[rec]) *Pipeline[rec] {
		return p.Shuffle(n)
	}, model: func(m *modelPlan, _ string, at int, in []modelEpoch, _ bool) []modelEpoch {
		canon, world, rank := 1, 1, 0
		if m.sharding != nil {
			rank = m.sharding.Rank
		}
		if m.canonical > 0 {
			canon = m.canonical
			if m.sharding != nil {
				world = m.sharding.World
			}
		}
		var out []modelEpoch
		for e, epoch := range in {
			left := shuffled(epoch.values, n, mix(m.seed, uint64(e)), at, canon, world, rank, !m.holds(epoch))
			out = append(out, modelEpoch{left, epoch.err})
		}
		return out
	}}
}

// holds tells whether what stages hold at the end of an epoch stays there.
func (m *modelPlan) holds(epoch modelEpoch) bool { return m.hold && epoch.err != nil }

// shuffled is the rule of Shuffle: fill a buffer, then replace an element chosen at
// random, which leaves; at the end the rest leave at random. With canonical shards each
// has a buffer, and at the end those that have given out least come first. If the stream is cut
// off there is no end.
func shuffled(in []modelValue, size int, seed uint64, stage, canon, world, rank int, end bool) []modelValue {
	type buffer struct {
		held []modelValue
		left uint64
	}
	buffers := make([]buffer, canon/world)
	size = max(1, (size+canon-1)/canon)
	choose := func(i int, n int) int {
		shard := rank
		if canon > 1 {
			shard += i * world
		}
		return int(below(mix(mix(seed, uint64(stage)<<32|uint64(shard)), buffers[i].left), uint64(n)))
	}
	var out []modelValue
	for _, v := range in {
		i := 0
		if canon > 1 {
			i = int(v.origin) % canon / world
		}
		b := &buffers[i]
		if len(b.held) < size {
			b.held = append(b.held, v)
			continue
		}
		j := choose(i, size)
		out = append(out, b.held[j])
		b.held[j] = v
		b.left++
	}
	for end {
		least := -1
		for i := range buffers {
			if len(buffers[i].held) > 0 && (least < 0 || buffers[i].left < buffers[least].left) {
				least = i
			}
		}
		if least < 0 {
			return out
		}
		b := &buffers[least]
		j := choose(least, len(b.held))
		out = append(out, b.held[j])
		b.held[j] = b.held[len(b.held)-1]
		b.held = b.held[:len(b.held)-1]
		b.left++
	}
	return out
}

// batchStage makes batches and concatenates each, by Collate or by BatchRaw and Map.
func batchStage(n int, raw, faults bool) modelStage {
	join := func(batch []rec) rec {
		var out rec
		for _, r := range batch {
			out.V = append(out.V, r.V...)
			out.Rand ^= r.Rand
			out.Pad = out.Pad || r.Pad
		}
		return out
	}
	isOdd := func(r rec) bool { return faults && !raw && chosen(r, 4, 31) }
	model := func(m *modelPlan, name string, at int, in []modelEpoch, endless bool) []modelEpoch {
		var out []modelEpoch
		var held []modelValue
		for e, epoch := range in {
			next := modelEpoch{err: epoch.err}
			give := func() bool {
				var batch []rec
				for _, v := range held {
					if isOdd(v.rec) {
						if m.policy == Fail {
							next.err = &StageError{Stage: name, Kind: KindCollate, Epoch: int64(e), Index: uint64(held[0].origin)}
							return false
						}
						continue
					}
					batch = append(batch, v.rec)
				}
				if len(batch) > 0 {
					next.values = append(next.values, modelValue{join(batch), held[0].origin})
				}
				held = nil
				return true
			}
			ok := true
			for _, v := range epoch.values {
				if held = append(held, v); len(held) == n {
					if ok = give(); !ok {
						break
					}
				}
			}
			last := !endless && e == len(in)-1
			if ok && len(held) > 0 && (!m.straddle || last || epoch.err != nil) && !m.holds(epoch) {
				if m.dropLast {
					held = nil
				} else {
					give()
				}
			}
			out = append(out, next)
			if next.err != nil {
				break
			}
		}
		return out
	}
	inner := "collate"
	if raw {
		inner = "map"
	}
	return modelStage{kind: "batch", inner: inner, build: func(p *Pipeline[rec]) *Pipeline[rec] {
		if raw {
			return Map(BatchRaw(p, n), func(b []rec) (rec, error) { return join(b), nil })
		}
		return p.Batch(n).Collate(func(b []rec) (rec, error) {
			for i, r := range b {
				if isOdd(r) {
					return rec{}, &ItemError{Item: i, Err: errBad}
				}
			}
			return join(b), nil
		})
	}, model: model}
}

func repeatStage(n int) modelStage {
	return modelStage{kind: "repeat", n: n, build: func(p *Pipeline[rec]) *Pipeline[rec] {
		return p.Repeat(n)
	}, model: func(_ *modelPlan, _ string, _ int, in []modelEpoch, _ bool) []modelEpoch {
		var out []modelEpoch
		for i, epoch := range in {
			if i%n == 0 {
				out = append(out, modelEpoch{})
			}
			last := &out[len(out)-1]
			last.values = append(last.values, epoch.values...)
			last.err = epoch.err
		}
		return out
	}}
}

func cacheStage() modelStage {
	return modelStage{kind: "cache", build: func(p *Pipeline[rec]) *Pipeline[rec] { return p.Cache() }}
}

// hoard is a stateful transform: it gives out what has come three by three, every
// fourth element also alone, and at the end the rest and how much came.
type hoard struct {
	Came int
	Held []int
}

func (h *hoard) Push(_ context.Context, r rec, emit func(rec)) error {
	h.Came++
	h.Held = append(h.Held, r.V...)
	if h.Came%3 == 0 {
		emit(rec{V: h.Held})
		h.Held = nil
	}
	if h.Came%4 == 0 {
		emit(rec{V: r.V, Pad: r.Pad})
	}
	return nil
}

func (h *hoard) Finish(_ context.Context, emit func(rec)) error {
	if len(h.Held) > 0 {
		emit(rec{V: h.Held})
	}
	emit(rec{V: []int{h.Came}})
	return nil
}

// savedHoard is a hoard that can be saved.
type savedHoard struct{ hoard }

func (h *savedHoard) Snapshot() (any, error) {
	return hoard{h.Came, slices.Clone(h.Held)}, nil
}

func (h *savedHoard) Restore(snapshot json.RawMessage) error {
	return json.Unmarshal(snapshot, &h.hoard)
}

func statefulStage(resumable bool) modelStage {
	return modelStage{kind: "stateful", build: func(p *Pipeline[rec]) *Pipeline[rec] {
		return p.Stateful(func() StatefulTransform[rec, rec] {
			if resumable {
				return new(savedHoard)
			}
			return new(hoard)
		})
	}, model: func(m *modelPlan, _ string, _ int, in []modelEpoch, _ bool) []modelEpoch {
		var out []modelEpoch
		for _, epoch := range in {
			next := modelEpoch{err: epoch.err}
			h := new(hoard)
			for _, v := range epoch.values {
				_ = h.Push(context.Background(), v.rec, func(r rec) { next.values = append(next.values, modelValue{r, v.origin}) })
			}
			if epoch.err == nil || h.Came > 0 && !m.hold {
				_ = h.Finish(context.Background(), func(r rec) { next.values = append(next.values, modelValue{r, -1}) })
			}
			out = append(out, next)
		}
		return out
	}}
}

// source is the model of the source: an epoch of what the rank sees.
func (m *modelPlan) source(epoch int64) modelEpoch {
	if m.byFile {
		return m.files(epoch)
	}
	var out modelEpoch
	world, rank, mode := 1, 0, Uneven
	if m.sharding != nil {
		world, rank, mode = m.sharding.World, m.sharding.Rank, m.sharding.Mode
	}
	var good []int
	var fail *StageError
	failAt := -1
	for _, i := range m.src.records() {
		if !m.src.isBad(i) {
			good = append(good, i)
		} else if len(good)%world == rank && m.policy == Fail && fail == nil {
			failAt = len(good)
			fail = &StageError{Stage: "numbers", Kind: KindSource, Epoch: epoch, Index: uint64(failAt)}
		}
	}
	n := len(good)
	if fail != nil {
		n = failAt
	}
	for p := rank; p < n; p += world {
		if mode == Drop && p-rank+world > len(good) {
			break
		}
		out.values = append(out.values, modelValue{rec{V: []int{good[p]}}, int64(p)})
	}
	out.err = fail
	if fail == nil && mode == Pad && n%world != 0 && rank >= n%world {
		p := n - n%world + rank
		out.values = append(out.values, modelValue{rec{V: []int{good[p%n]}, Pad: true}, int64(p)})
	}
	return out
}

// files is the model of a source that is split by file.
func (m *modelPlan) files(epoch int64) modelEpoch {
	s := *m.sharding
	part := func(rank int) (good []int) {
		for i := rank; i < len(m.src.files); i += s.World {
			for v := m.src.files[i][0]; v < m.src.files[i][1]; v++ {
				if !m.src.isBad(v) {
					good = append(good, v)
				}
			}
		}
		return good
	}
	own := part(s.Rank)
	goal := len(own)
	from := s.Rank
	if s.Mode != Uneven {
		for rank := range s.World {
			if n := len(part(rank)); s.Mode == Pad {
				goal = max(goal, n)
			} else {
				goal = min(goal, n)
			}
		}
		for range s.World {
			if len(part(from)) > 0 {
				break
			}
			from = (from + 1) % s.World
		}
		own = part(from)
	}
	var out modelEpoch
	for i := range goal {
		out.values = append(out.values, modelValue{rec{V: []int{own[i%len(own)]}, Pad: from != s.Rank || i >= len(own)}, int64(i)})
	}
	return out
}

// names are those of the stages in the engine, with the index of each.
func (m *modelPlan) names() (names []string, at []int) {
	index, times := 1, map[string]int{}
	call := func(name string) string {
		if times[name]++; times[name] > 1 {
			return fmt.Sprintf("%s#%d", name, times[name])
		}
		return name
	}
	for _, s := range m.stages {
		at = append(at, index)
		index++
		name := call(s.kind)
		if s.kind == "batch" {
			name = call(s.inner) // where it fails
			index++
		}
		names = append(names, name)
	}
	return names, at
}

// expect is the whole stream: elements with their epochs, and the error at the
// end, nil for a clean one.
func (m *modelPlan) expect() (out []modelValue, epochs []int64, err *StageError) {
	// How many epochs each stage has follows from the end.
	wanted := m.epochs
	if wanted == 0 {
		wanted = modelHorizon
	}
	endless := m.epochs == 0
	counts := make([]int, len(m.stages)+1)
	ends := make([]bool, len(m.stages)+1)
	for i := len(m.stages); i >= 0; i-- {
		counts[i], ends[i] = wanted, endless
		if i == 0 {
			break
		}
		switch s := m.stages[i-1]; s.kind {
		case "repeat":
			wanted *= s.n
		case "cache":
			wanted, endless = 1, false
		}
	}
	var stream []modelEpoch
	for e := range counts[0] {
		stream = append(stream, m.source(int64(e)))
		if stream[e].err != nil {
			break
		}
	}
	names, at := m.names()
	for i, s := range m.stages {
		if s.kind == "cache" {
			one := stream[0]
			m.nothing = m.nothing || len(one.values) == 0 && one.err == nil && ends[i+1]
			stream = nil
			for range counts[i+1] {
				stream = append(stream, one)
				if one.err != nil {
					break
				}
			}
			continue
		}
		stream = s.model(m, names[i], at[i], stream, ends[i])
	}
	for e, epoch := range stream {
		for _, v := range epoch.values {
			out = append(out, v)
			epochs = append(epochs, int64(e))
		}
		if epoch.err != nil {
			return out, epochs, epoch.err
		}
	}
	return out, epochs, nil
}

// pipeline is the plan for the engine.
func (m *modelPlan) pipeline() *Pipeline[rec] {
	var p *Pipeline[rec]
	if m.async {
		p = FromAsync[rec](pushed{m.src})
	} else {
		p = From[rec](m.src)
	}
	for _, s := range m.stages {
		p = s.build(p)
	}
	p = p.Seed(m.seed).Epochs(int64(m.epochs)).OnError(m.policy)
	if m.sharding != nil {
		p = p.Shard(m.sharding.Rank, m.sharding.World).ShardMode(m.sharding.Mode)
	}
	if m.byFile {
		p = p.ShardFiles()
	}
	if m.canonical > 0 {
		p = p.CanonicalShards(m.canonical)
	}
	if m.dropLast {
		p = p.DropLast()
	}
	if m.straddle {
		p = p.AcrossEpochs()
	}
	if m.hold {
		p = p.HoldOnError()
	}
	return p
}

// drawPlan draws a plan.
func drawPlan(t *rapid.T) *modelPlan {
	m := &modelPlan{
		seed:   rapid.OneOf(rapid.Just(uint64(0)), rapid.Uint64()).Draw(t, "seed"),
		epochs: rapid.IntRange(0, 3).Draw(t, "epochs"),
		policy: Policy(rapid.IntRange(0, 1).Draw(t, "policy")),
		faults: rapid.Bool().Draw(t, "faults"),
		hold:   rapid.Bool().Draw(t, "hold on error"),
	}
	at := 0
	for range rapid.IntRange(1, 6).Draw(t, "files") {
		n := rapid.IntRange(0, 20).Draw(t, "records")
		m.src.files = append(m.src.files, [2]int{at, at + n})
		at += n
	}
	m.src.seek = rapid.Bool().Draw(t, "seek")
	m.src.sleeps = rapid.Bool().Draw(t, "sleeps")
	if m.faults && rapid.Bool().Draw(t, "bad records") {
		salt := rapid.Uint64Range(5, 9).Draw(t, "which")
		m.src.bad = func(i int) bool { return mix(uint64(i), salt)%19 == 0 }
	}
	switch rapid.IntRange(0, 3).Draw(t, "way") {
	case 0:
		m.async = true
	case 1:
		world := rapid.IntRange(1, 4).Draw(t, "world")
		m.sharding = &Sharding{Rank: rapid.IntRange(0, world-1).Draw(t, "rank"), World: world, Mode: ShardMode(rapid.IntRange(0, 2).Draw(t, "mode"))}
		// An error in one rank alone is not what the model of files tells.
		m.byFile = (m.src.bad == nil || m.policy == Skip) && rapid.Bool().Draw(t, "by file")
		if !m.byFile && rapid.Bool().Draw(t, "canonical") {
			m.canonical = world * rapid.IntRange(1, 3).Draw(t, "canonical shards")
		}
	}
	groups, onlyOne := false, true // a stage changes the grouping; work on one element each
	for range rapid.IntRange(0, 5).Draw(t, "stages") {
		kinds := []string{"map", "filter", "flatmap", "maprand", "shuffle", "skip", "take", "repeat", "cache", "batch", "stateful"}
		var s modelStage
		switch kind := rapid.SampledFrom(kinds).Draw(t, "stage"); kind {
		case "map":
			s = mapStage(m.faults, rapid.Bool().Draw(t, "panics"))
		case "filter":
			s = filterStage(rapid.IntRange(1, 5).Draw(t, "filter"))
		case "flatmap":
			s = flatMapStage(m.faults)
		case "maprand":
			s = randStage()
		case "shuffle":
			if m.canonical > 0 && !onlyOne {
				continue
			}
			s = shuffleStage(rapid.IntRange(0, 12).Draw(t, "buffer"))
		case "skip":
			s = skipStage(rapid.IntRange(0, 9).Draw(t, "skip"))
		case "take":
			if m.faults && m.policy == Fail && m.epochs != 1 {
				continue // whether the source gets as far as the error is a matter of time
			}
			s = takeStage(rapid.IntRange(0, 60).Draw(t, "take"))
		case "repeat":
			s = repeatStage(rapid.IntRange(1, 3).Draw(t, "repeat"))
		case "cache":
			s = cacheStage()
		case "batch":
			groups = true
			s = batchStage(rapid.IntRange(1, 9).Draw(t, "batch"), rapid.Bool().Draw(t, "raw"), m.faults)
		case "stateful":
			s = statefulStage(rapid.Bool().Draw(t, "resumable"))
		}
		if s.kind == "take" && m.faults && m.policy == Fail && slices.ContainsFunc(m.stages, func(s modelStage) bool { return s.kind == "repeat" }) {
			continue
		}
		if s.kind == "repeat" && m.faults && m.policy == Fail && slices.ContainsFunc(m.stages, func(s modelStage) bool { return s.kind == "take" }) {
			continue
		}
		onlyOne = onlyOne && slices.Contains([]string{"map", "filter", "flatmap", "maprand"}, s.kind)
		m.stages = append(m.stages, s)
	}
	if groups {
		m.dropLast = rapid.Bool().Draw(t, "drop last")
		m.straddle = rapid.Bool().Draw(t, "across epochs")
	}
	return m
}
