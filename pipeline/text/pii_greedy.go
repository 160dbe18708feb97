package text

import (
	"regexp/syntax"
	"sync"
	"unicode/utf8"
)

// greedy finds all matches of a pattern, leftmost first and of several ways the one that
// package regexp prefers, in O(text × program) for all of them together. A pass from
// the end to the start notes, for each position, the instructions from which a match can
// be reached. With that, a walk forward always knows which way to take and never reads
// beyond the match.
//
// Algorithm: A. Frisch and L. Cardelli, Greedy regular expression matching, ICALP 2004.
type greedy struct {
	prog    *syntax.Prog
	into    [][]uint32 // by instruction, those that lead to it without reading
	readers []uint32   // the instructions that read a code point
	matches []uint32   // the instructions that end a match
	words   int        // of a set of instructions
	pool    sync.Pool  // of *greedyScratch
}

// greedySegment is the number of positions whose sets are kept at a time. Of the others,
// those behind each segment are, from which it is worked out again.
const greedySegment = 1024

// greedyScratch is the memory of one search: sets of instructions, and of each segment but
// the last the set at the first code point that begins behind it, and where that is.
type greedyScratch struct {
	ends      []int
	borders   []uint64
	live      []uint64 // the sets of one segment
	segment   int      // which one
	set, next []uint64
	queue     []uint32
	caps      []int    // where the groups of the last match are
	steps     uint64   // taken by walks
	seen      []uint64 // by instruction, the last step that came by
}

func newGreedy(prog *syntax.Prog) *greedy {
	g := &greedy{prog: prog, into: make([][]uint32, len(prog.Inst)), words: (len(prog.Inst) + 63) / 64}
	for pc := range prog.Inst {
		switch x := &prog.Inst[pc]; x.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			g.into[x.Out] = append(g.into[x.Out], uint32(pc))
			g.into[x.Arg] = append(g.into[x.Arg], uint32(pc))
		case syntax.InstCapture, syntax.InstEmptyWidth, syntax.InstNop:
			g.into[x.Out] = append(g.into[x.Out], uint32(pc))
		case syntax.InstMatch:
			g.matches = append(g.matches, uint32(pc))
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			g.readers = append(g.readers, uint32(pc))
		}
	}
	return g
}

// search appends the spans of x, whose pattern g is of, in s, which lies at offset in its
// text. Behind a match the text starts anew.
func (g *greedy) search(dst []Span, s []byte, offset int, x *rule) []Span {
	scratch, _ := g.pool.Get().(*greedyScratch)
	if scratch == nil {
		scratch = &greedyScratch{
			live: make([]uint64, greedySegment*g.words),
			set:  make([]uint64, g.words), next: make([]uint64, g.words),
			caps: make([]int, g.prog.NumCap), seen: make([]uint64, len(g.prog.Inst)),
		}
	}
	defer g.pool.Put(scratch)
	r := greedyRun{g, scratch, s}
	r.prepare()
	anew := -1
	for p := 0; p < len(s); {
		_, n := utf8.DecodeRune(s[p:])
		set := r.liveAt(p)
		if p == anew { // what looks back must see the start of a text
			copy(r.next, r.liveAt(p+n))
			r.fill(r.set, r.next, p, endOfText)
			set = r.set
		}
		if !has(set, uint32(g.prog.Start)) {
			p += n
			continue
		}
		start, end := p, r.walk(p, set)
		p, anew = end, end
		if x.group > 0 {
			start, end = r.caps[2*x.group], r.caps[2*x.group+1]
		}
		if end > start {
			dst = append(dst, Span{offset + start, offset + end, x.kind})
		}
	}
	return dst
}

// greedyRun is a search in one text.
type greedyRun struct {
	*greedy
	*greedyScratch
	s []byte
}

// endOfText stands for the code point before the first and behind the last.
const endOfText = rune(-1)

// prepare notes the sets behind the segments.
func (r *greedyRun) prepare() {
	segments := len(r.s)/greedySegment + 1
	r.ends = append(r.ends[:0], make([]int, segments)...)
	r.borders = append(r.borders[:0], make([]uint64, segments*r.words)...)
	r.segment = -1
	p := len(r.s)
	r.fill(r.set, nil, p, r.runeBefore(p))
	for k := segments - 2; k >= 0; k-- {
		for p > 0 {
			_, n := utf8.DecodeLastRune(r.s[:p])
			if p-n < (k+1)*greedySegment {
				break
			}
			p -= n
			r.set, r.next = r.next, r.set
			r.fill(r.set, r.next, p, r.runeBefore(p))
		}
		r.ends[k] = p
		copy(r.borders[k*r.words:], r.set)
	}
}

// liveAt returns the set at position p, where a code point begins or the text ends. It is
// good until the next call.
func (r *greedyRun) liveAt(p int) []uint64 {
	k := p / greedySegment
	if k != r.segment {
		r.load(k)
	}
	i := p % greedySegment * r.words
	return r.live[i : i+r.words]
}

// load works out the sets of segment k.
func (r *greedyRun) load(k int) {
	r.segment = k
	lo := k * greedySegment
	at := func(p int) []uint64 { return r.live[(p-lo)*r.words : (p-lo+1)*r.words] }
	p, set := r.ends[k], r.borders[k*r.words:(k+1)*r.words]
	if k == len(r.ends)-1 {
		p = len(r.s)
		set = at(p)
		r.fill(set, nil, p, r.runeBefore(p))
	}
	for p > lo {
		_, n := utf8.DecodeLastRune(r.s[:p])
		p -= n
		if p < lo {
			return // in the segment before
		}
		r.fill(at(p), set, p, r.runeBefore(p))
		set = at(p)
	}
}

func (r *greedyRun) runeBefore(p int) rune {
	if p == 0 {
		return endOfText
	}
	c, _ := utf8.DecodeLastRune(r.s[:p])
	return c
}

// fill computes the set at position p from next, that of the next code point, given the
// one before p.
func (r *greedyRun) fill(set, next []uint64, p int, before rune) {
	clear(set)
	r.queue = r.queue[:0]
	mark := func(pc uint32) {
		if !has(set, pc) {
			set[pc/64] |= 1 << (pc % 64)
			r.queue = append(r.queue, pc)
		}
	}
	for _, pc := range r.matches {
		mark(pc)
	}
	c := endOfText
	if p < len(r.s) {
		c, _ = utf8.DecodeRune(r.s[p:])
		for _, pc := range r.readers {
			if x := &r.prog.Inst[pc]; has(next, x.Out) && reads(x, c) {
				mark(pc)
			}
		}
	}
	borders := syntax.EmptyOpContext(before, c)
	for len(r.queue) > 0 {
		pc := r.queue[len(r.queue)-1]
		r.queue = r.queue[:len(r.queue)-1]
		for _, q := range r.into[pc] {
			if x := &r.prog.Inst[q]; x.Op != syntax.InstEmptyWidth || syntax.EmptyOp(x.Arg)&^borders == 0 {
				mark(q)
			}
		}
	}
}

// reads says whether x, which reads a code point, takes c.
func reads(x *syntax.Inst, c rune) bool {
	switch x.Op {
	case syntax.InstRune1:
		return c == x.Rune[0]
	case syntax.InstRuneAny:
		return true
	case syntax.InstRuneAnyNotNL:
		return c != '\n'
	}
	return x.MatchRune(c)
}

// walk returns the end of the match that starts at p, whose set is given and holds the
// start of the program. It leaves the places of the groups in caps.
func (r *greedyRun) walk(p int, set []uint64) int {
	for i := range r.caps {
		r.caps[i] = -1
	}
	for pc := uint32(r.prog.Start); ; {
		r.steps++
		pc, _ = r.step(pc, p, set)
		x := &r.prog.Inst[pc]
		if x.Op == syntax.InstMatch {
			return p
		}
		_, n := utf8.DecodeRune(r.s[p:])
		pc = x.Out
		p += n
		set = r.liveAt(p)
	}
}

// step returns the first instruction that reads or matches on the best way from pc that
// leads to a match. Ways that only go round lead nowhere.
func (r *greedyRun) step(pc uint32, p int, set []uint64) (uint32, bool) {
	if r.seen[pc] == r.steps || !has(set, pc) {
		return 0, false
	}
	r.seen[pc] = r.steps
	switch x := &r.prog.Inst[pc]; x.Op {
	case syntax.InstAlt, syntax.InstAltMatch:
		if found, ok := r.step(x.Out, p, set); ok {
			return found, true
		}
		return r.step(x.Arg, p, set)
	case syntax.InstCapture:
		found, ok := r.step(x.Out, p, set)
		if ok {
			r.caps[x.Arg] = p
		}
		return found, ok
	case syntax.InstEmptyWidth, syntax.InstNop:
		return r.step(x.Out, p, set)
	}
	return pc, true
}

func has(set []uint64, pc uint32) bool { return set[pc/64]>>(pc%64)&1 != 0 }
