package source

import (
	"encoding/binary"
	"fmt"

	"github.com/rosaline-go/rosaline/internal/jsonstring"
)

// maxPaths is how many paths one scan looks for: the text and the id.
const maxPaths = 2

// jsonRef is where a value lies in its line. The zero value is "not there": no
// value is empty.
type jsonRef struct {
	start, end int
	// Of a string with escapes: where what it stands for, which is never empty, lies in
	// jsonScanner.text, and the halves of surrogate pairs in it.
	from, to, lone int
}

func (r *jsonRef) found() bool { return r.end > 0 }

func (r *jsonRef) escaped() bool { return r.to > 0 }

// syntaxError says what is wrong with a line, at a byte of it counted from 0.
type syntaxError struct {
	at   int
	what string
	deep bool // too deep, rather than invalid
}

func (e *syntaxError) Error() string { return e.what }

// jsonScanner reads one JSON value, checks all of it against RFC 8259 and notes
// where the values of up to maxPaths paths lie, in one pass over the bytes.
//
// What is off the paths is skipped by a loop with a stack of bits, so the depth
// of the input costs neither calls nor memory; calls nest as deep as the paths
// are long. Methods that read take the place of what they read and return the place
// after it, failed if there is a fault: a place in a register is there at once, one in
// memory only after a store.
type jsonScanner struct {
	paths    []jsonPath
	maxDepth int

	s       []byte
	depth   int      // arrays and objects open
	objects []uint64 // bit d: what is open at depth d is an object
	key     []byte   // scratch for names with escapes
	strings jsonstring.Scanner
	text    []byte // what the strings with escapes on the paths stand for
	fault   syntaxError

	template jsonTemplate
}

// failed is the place after what is no JSON; jsonScanner.fault says why.
const failed = -1

// reset makes s what is read next.
func (p *jsonScanner) reset(s []byte) {
	p.s, p.depth, p.text = s, 0, p.text[:0]
	p.strings.Reset(s)
	if need := p.maxDepth/64 + 1; len(p.objects) < need {
		p.objects = make([]uint64, need)
	}
}

// scan finds the paths in line. The error is a *syntaxError; then found tells nothing. It
// is quicker if the line is written like the one before: see jsonTemplate.
func (p *jsonScanner) scan(line []byte, found *[maxPaths]jsonRef) error {
	t := &p.template
	if t.wait == 0 && len(t.members) > 0 {
		p.reset(line)
		if p.compare(found) {
			t.pause = 0
			return nil
		}
		t.pause = min(2*t.pause+1, maxPause)
		t.wait = t.pause
	}
	if err := p.scanAny(line, found); err != nil {
		return err
	}
	if t.wait--; t.wait <= 0 {
		t.wait = 0
		p.learn(line)
	}
	return nil
}

// scanAny is scan of a line however it is written.
func (p *jsonScanner) scanAny(line []byte, found *[maxPaths]jsonRef) error {
	p.reset(line)
	i := p.root(found)
	if i != failed {
		if i = p.space(i); i == len(line) {
			return nil
		}
		p.fail(i, "more data after the value")
	}
	fault := p.fault
	return &fault
}

// root reads the outermost value, by a short cut where it is an object as usual.
func (p *jsonScanner) root(found *[maxPaths]jsonRef) int {
	var at [maxPaths]int
	i := p.space(0)
	below := p.peek(i) == '{' && len(p.paths) > 0
	for k := range p.paths {
		below = below && len(p.paths[k].segments) > 0
		found[k] = jsonRef{}
	}
	if below {
		return p.object(i, &at, found)
	}
	return p.value(i, &at, found)
}

// offPath stands in place of a number of segments when a value is not on a path.
const offPath = -1

func (p *jsonScanner) fail(i int, what string) int {
	if i >= len(p.s) {
		what = "the line ends early"
	}
	p.fault = syntaxError{at: i, what: what}
	return failed
}

// peek returns the byte at i, 0 at the end. A 0 in the line is as invalid as
// its end wherever peek is used.
func (p *jsonScanner) peek(i int) byte {
	if i < len(p.s) {
		return p.s[i]
	}
	return 0
}

// space passes over white space.
func (p *jsonScanner) space(i int) int {
	if i < len(p.s) && p.s[i] > ' ' {
		return i
	}
	return p.skipSpace(i)
}

func (p *jsonScanner) skipSpace(i int) int {
	for i < len(p.s) {
		switch p.s[i] {
		case ' ':
			i++
		case '\t', '\r', '\n':
			p.strings.Next()
			i++
		default:
			return i
		}
	}
	return i
}

// enter notes that the array or object at i is open, and returns where its inside
// begins.
func (p *jsonScanner) enter(i int, object bool) int {
	if p.depth++; p.depth > p.maxDepth {
		p.fault = syntaxError{at: i, what: fmt.Sprintf("nested deeper than %d", p.maxDepth), deep: true}
		return failed
	}
	bit := uint64(1) << (p.depth & 63)
	if object {
		p.objects[p.depth>>6] |= bit
	} else {
		p.objects[p.depth>>6] &^= bit
	}
	return i + 1
}

// leave notes that the array or object whose end is at i is closed.
func (p *jsonScanner) leave(i int) int {
	p.depth--
	return i + 1
}

func (p *jsonScanner) inObject() bool {
	return p.objects[p.depth>>6]>>(p.depth&63)&1 != 0
}

// value reads a value that lies at[k] segments down path k, and sets found[k] to what
// is there for each path that is not offPath.
func (p *jsonScanner) value(i int, at *[maxPaths]int, found *[maxPaths]jsonRef) int {
	i = p.space(i)
	here, below := 0, false // bit k: path k ends here
	var inside [maxPaths]int
	for k := range p.paths {
		inside[k] = offPath
		switch at[k] {
		case offPath:
		case len(p.paths[k].segments):
			here |= 1 << k
		default:
			inside[k], found[k], below = at[k], jsonRef{}, true
		}
	}
	ref := jsonRef{start: i}
	switch c := p.peek(i); {
	case c == '"':
		i, ref.from, ref.to, ref.lone = p.leaf(i)
	case c == '{' && below:
		i = p.object(i, &inside, found)
	case c == '[' && below:
		i = p.array(i, &inside, found)
	default:
		i = p.skip(i)
	}
	ref.end = i
	for k := 0; here != 0; k, here = k+1, here>>1 {
		if here&1 != 0 {
			found[k] = ref
		}
	}
	return i
}

// object reads an object in which a path goes on.
func (p *jsonScanner) object(i int, at *[maxPaths]int, found *[maxPaths]jsonRef) int {
	if i = p.enter(i, true); i == failed {
		return failed
	}
	var segments [maxPaths]*pathSegment // nil for a path that does not go on here
	for k := range p.paths {
		if at[k] != offPath {
			segments[k] = &p.paths[k].segments[at[k]]
		}
	}
	if i = p.space(i); p.peek(i) == '}' {
		return p.leave(i)
	}
	settled := 0 // bit k: the rest of path k has been found as a name, which wins
	for {
		name, end := p.name(i)
		if end == failed {
			return failed
		}
		whole, part := 0, 0 // bit k: path k ends here, or goes on
		for k, s := range segments {
			switch {
			case s == nil:
			case string(name) == s.rest:
				whole |= 1 << k
				settled |= 1 << k
			case string(name) != s.name || settled>>k&1 != 0:
			case s.last:
				whole |= 1 << k
			default:
				part |= 1 << k
			}
		}
		if i = p.toString(end, ':'); i != failed {
			// The value is a string, as most are.
			if whole|part != 0 {
				i = p.stringMember(i, whole, part, found)
			} else {
				i = p.str()
			}
			if i == failed {
				return failed
			}
			if next := p.toString(i-1, ','); next != failed {
				i = next
				continue
			}
		} else {
			if i = p.colon(end + 1); i == failed {
				return failed
			}
			if whole|part != 0 {
				i = p.member(i, at, whole, part, found)
			} else {
				i = p.skip(i)
			}
			if i == failed {
				return failed
			}
		}
		i = p.space(i)
		if c := p.peek(i); c == '}' {
			return p.leave(i)
		} else if c != ',' {
			return p.fail(i, "expected , or } after a member")
		}
		i = p.space(i + 1)
	}
}

// member reads the value of a member that is what the paths in whole lead to, or in which
// those in part go on.
func (p *jsonScanner) member(i int, at *[maxPaths]int, whole, part int, found *[maxPaths]jsonRef) int {
	var next [maxPaths]int
	for k := range next {
		switch {
		case whole>>k&1 != 0:
			next[k] = len(p.paths[k].segments)
		case part>>k&1 != 0:
			next[k] = at[k] + 1
		default:
			next[k] = offPath
		}
	}
	return p.value(i, &next, found)
}

// stringMember is member where the value is a string. No path goes on in it.
func (p *jsonScanner) stringMember(i int, whole, part int, found *[maxPaths]jsonRef) int {
	end, from, to, lone := p.leaf(i)
	for k := range found {
		// Field by field: what has been written in pieces is slow to read as a whole.
		f := &found[k]
		if whole>>k&1 != 0 {
			f.start, f.end, f.from, f.to, f.lone = i, end, from, to, lone
		} else if part>>k&1 != 0 {
			f.start, f.end, f.from, f.to, f.lone = 0, 0, 0, 0, 0
		}
	}
	return end
}

// toString returns the place of the string that comes after the one whose closing quote
// is at i, if there are but a separator and perhaps a blank between them, as nearly all
// programs write it, else failed.
func (p *jsonScanner) toString(i int, separator uint32) int {
	if i+4 > len(p.s) {
		return failed
	}
	w := binary.LittleEndian.Uint32(p.s[i:])
	if w == '"'|separator<<8|' '<<16|'"'<<24 {
		return i + 3
	}
	if w<<8 == ('"'|separator<<8|'"'<<16)<<8 {
		return i + 2
	}
	return failed
}

// array reads an array in which a path goes on.
func (p *jsonScanner) array(i int, at *[maxPaths]int, found *[maxPaths]jsonRef) int {
	if i = p.enter(i, false); i == failed {
		return failed
	}
	if i = p.space(i); p.peek(i) == ']' {
		return p.leave(i)
	}
	for n := 0; ; n++ {
		next := [maxPaths]int{offPath, offPath}
		follow := false
		for k := range p.paths {
			if at[k] != offPath && p.paths[k].segments[at[k]].index == n {
				next[k], follow = at[k]+1, true
			}
		}
		if follow {
			i = p.value(i, &next, found)
		} else {
			i = p.skip(i)
		}
		if i == failed {
			return failed
		}
		i = p.space(i)
		if c := p.peek(i); c == ']' {
			return p.leave(i)
		} else if c != ',' {
			return p.fail(i, "expected , or ] after an element")
		}
		i++
	}
}

// name reads a name, and returns the place of its closing quote. The name is valid until
// the next call.
func (p *jsonScanner) name(i int) (name []byte, end int) {
	if p.peek(i) != '"' {
		return nil, p.fail(i, "expected a name in double quotes")
	}
	start := i + 1
	end = p.strings.Open()
	if p.peek(end) == '"' {
		return p.s[start:end], end
	}
	var fault string
	if p.key, _, end, fault = p.strings.Append(p.key[:0], start, end); fault != "" || end == len(p.s) {
		return nil, p.fail(end, fault)
	}
	return p.key, end
}

// colon reads the colon after a name.
func (p *jsonScanner) colon(i int) int {
	if i = p.space(i); p.peek(i) != ':' {
		return p.fail(i, "expected : after a name")
	}
	return i + 1
}

// skip reads a value that is on no path.
func (p *jsonScanner) skip(i int) int {
	if i = p.space(i); p.peek(i) == '"' {
		return p.str()
	}
	base := p.depth
	for {
		i = p.space(i)
		switch c := p.peek(i); {
		case c == '"':
			i = p.str()
		case c == '{', c == '[':
			if i = p.enter(i, c == '{'); i == failed {
				return failed
			}
			i = p.space(i)
			if p.peek(i) == c+2 { // } and ] lie two after { and [
				i = p.leave(i)
				break
			}
			if c == '{' {
				if i = p.skipName(i); i == failed {
					return failed
				}
			}
			continue
		case c == '-' || c-'0' < 10:
			i = p.number(i)
		default:
			i = p.literal(i)
		}
		if i == failed {
			return failed
		}
		more := false
		for p.depth > base && !more {
			i = p.space(i)
			object := p.inObject()
			switch c := p.peek(i); {
			case c == ',':
				i++
				more = true
				if object {
					if i = p.skipName(p.space(i)); i == failed {
						return failed
					}
				}
			case c == '}' && object, c == ']' && !object:
				i = p.leave(i)
			case object:
				return p.fail(i, "expected , or } after a member")
			default:
				return p.fail(i, "expected , or ] after an element")
			}
		}
		if !more {
			return i
		}
	}
}

// skipName reads a name and the colon after it.
func (p *jsonScanner) skipName(i int) int {
	if p.peek(i) != '"' {
		return p.fail(i, "expected a name in double quotes")
	}
	if i = p.str(); i == failed {
		return failed
	}
	return p.colon(i)
}

func (p *jsonScanner) literal(i int) int {
	for _, word := range [...]string{"true", "false", "null"} {
		if i+len(word) <= len(p.s) && string(p.s[i:i+len(word)]) == word {
			return i + len(word)
		}
	}
	return p.fail(i, "expected a value")
}

func (p *jsonScanner) number(i int) int {
	if p.peek(i) == '-' {
		i++
	}
	start := i
	if p.peek(i) == '0' {
		i++
	} else if i = p.digits(i); i == start {
		return p.fail(i, "expected a digit")
	}
	if p.peek(i) == '.' {
		start = i + 1
		if i = p.digits(start); i == start {
			return p.fail(i, "expected a digit after the point")
		}
	}
	if c := p.peek(i); c == 'e' || c == 'E' {
		i++
		if c := p.peek(i); c == '+' || c == '-' {
			i++
		}
		start = i
		if i = p.digits(i); i == start {
			return p.fail(i, "expected a digit in the exponent")
		}
	}
	return i
}

// digits passes over digits.
func (p *jsonScanner) digits(i int) int {
	for p.peek(i)-'0' < 10 {
		i++
	}
	return i
}

// str reads a string, whose opening quote is the next of p.strings, and returns the place
// after it.
func (p *jsonScanner) str() int {
	i := p.strings.Open()
	if p.peek(i) == '"' {
		return i + 1
	}
	i, fault := p.strings.Skip(i)
	if fault != "" || i == len(p.s) {
		return p.fail(i, fault)
	}
	return i + 1
}

// leaf is str for a string on a path, and returns what a jsonRef tells of it.
func (p *jsonScanner) leaf(start int) (after, from, to, lone int) {
	i := p.strings.Open()
	if p.peek(i) != '"' {
		var fault string
		from = len(p.text)
		if p.text, lone, i, fault = p.strings.Append(p.text, start+1, i); fault != "" || i == len(p.s) {
			return p.fail(i, fault), 0, 0, 0
		}
		to = len(p.text)
	}
	return i + 1, from, to, lone
}
