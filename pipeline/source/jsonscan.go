package source

import (
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

// scan finds the paths in line. The error is a *syntaxError.
func (p *jsonScanner) scan(line []byte) (found [maxPaths]jsonRef, err error) {
	p.reset(line)
	var at [maxPaths]int
	for k := len(p.paths); k < maxPaths; k++ {
		at[k] = offPath
	}
	i := p.value(0, at, &found)
	if i != failed {
		if i = p.space(i); i < len(line) {
			i = p.fail(i, "more data after the value")
		}
	}
	if i == failed {
		fault := p.fault
		return found, &fault
	}
	return found, nil
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
		case ' ', '\t', '\r', '\n':
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
func (p *jsonScanner) value(i int, at [maxPaths]int, found *[maxPaths]jsonRef) int {
	i = p.space(i)
	here, below := [maxPaths]bool{}, false
	for k := range p.paths {
		switch at[k] {
		case offPath:
		case len(p.paths[k].segments):
			here[k], at[k] = true, offPath
		default:
			found[k], below = jsonRef{}, true
		}
	}
	ref := jsonRef{start: i}
	switch c := p.peek(i); {
	case c == '"':
		i = p.leaf(i, &ref)
	case c == '{' && below:
		i = p.object(i, at, found)
	case c == '[' && below:
		i = p.array(i, at, found)
	default:
		i = p.skip(i)
	}
	ref.end = i
	for k := range p.paths {
		if here[k] {
			found[k] = ref
		}
	}
	return i
}

// object reads an object in which a path goes on.
func (p *jsonScanner) object(i int, at [maxPaths]int, found *[maxPaths]jsonRef) int {
	if i = p.enter(i, true); i == failed {
		return failed
	}
	// found is what the next segment of each path leads to, whole the rest of it.
	var whole [maxPaths]jsonRef
	var segments [maxPaths]*pathSegment // nil for a path that does not go on here
	for k := range p.paths {
		if at[k] != offPath {
			segments[k] = &p.paths[k].segments[at[k]]
		}
	}
	if i = p.space(i); p.peek(i) == '}' {
		return p.leave(i)
	}
	for {
		name, after := p.name(i)
		if after == failed {
			return failed
		}
		byName, byRest := 0, 0 // bit k: of path k
		for k, s := range segments {
			switch {
			case s == nil:
			case string(name) == s.rest:
				byRest |= 1 << k
			case string(name) == s.name:
				byName |= 1 << k
			}
		}
		if byName|byRest != 0 {
			i = p.member(after, at, byName, byRest, found, &whole)
		} else {
			i = p.skip(after)
		}
		if i == failed {
			return failed
		}
		i = p.space(i)
		if c := p.peek(i); c == '}' {
			break
		} else if c != ',' {
			return p.fail(i, "expected , or } after a member")
		}
		i = p.space(i + 1)
	}
	for k := range p.paths {
		if whole[k].found() {
			found[k] = whole[k]
		}
	}
	return p.leave(i)
}

// member reads the value of a member whose name is the next segment of the paths in
// byName, and sets found to what is there, or the rest of those in byRest, and sets
// whole.
func (p *jsonScanner) member(i int, at [maxPaths]int, byName, byRest int, found, whole *[maxPaths]jsonRef) int {
	if i = p.space(i); p.peek(i) == '"' {
		return p.stringMember(i, at, byName, byRest, found, whole)
	}
	for k := range at {
		switch {
		case byRest>>k&1 != 0:
			at[k] = len(p.paths[k].segments)
		case byName>>k&1 != 0:
			at[k]++
		default:
			at[k] = offPath
		}
	}
	var got [maxPaths]jsonRef
	if i = p.value(i, at, &got); i == failed {
		return failed
	}
	for k := range got {
		switch {
		case byRest>>k&1 != 0:
			whole[k] = got[k]
		case byName>>k&1 != 0:
			found[k] = got[k]
		}
	}
	return i
}

// stringMember is member where the value is a string: most texts and ids are one. No
// path leads into it.
func (p *jsonScanner) stringMember(i int, at [maxPaths]int, byName, byRest int, found, whole *[maxPaths]jsonRef) int {
	ref := jsonRef{start: i}
	i = p.leaf(i, &ref)
	ref.end = i
	for k := range at {
		switch {
		case byRest>>k&1 != 0:
			whole[k] = ref
		case byName>>k&1 == 0:
		case at[k]+1 == len(p.paths[k].segments):
			found[k] = ref
		default:
			found[k] = jsonRef{}
		}
	}
	return i
}

// array reads an array in which a path goes on.
func (p *jsonScanner) array(i int, at [maxPaths]int, found *[maxPaths]jsonRef) int {
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
			i = p.value(i, next, found)
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

// name reads the name of a member and the colon after it. The name is valid until the
// next call.
func (p *jsonScanner) name(i int) (name []byte, after int) {
	if p.peek(i) != '"' {
		return nil, p.fail(i, "expected a name in double quotes")
	}
	start := i + 1
	i = p.strings.Next(start)
	name = p.s[start:i]
	if p.peek(i) != '"' {
		var fault string
		if p.key, _, i, fault = p.strings.Append(p.key[:0], start, i); fault != "" || i == len(p.s) {
			return nil, p.fail(i, fault)
		}
		name = p.key
	}
	return name, p.colon(i + 1)
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
		return p.str(i)
	}
	base := p.depth
	for {
		i = p.space(i)
		switch c := p.peek(i); {
		case c == '"':
			i = p.str(i)
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
	if i = p.str(i); i == failed {
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

// str reads a string from its opening quote to after its closing one.
func (p *jsonScanner) str(i int) int {
	i, fault := p.strings.Skip(i + 1)
	if fault != "" || i == len(p.s) {
		return p.fail(i, fault)
	}
	return i + 1
}

// leaf is str for a string on a path.
func (p *jsonScanner) leaf(i int, ref *jsonRef) int {
	start := i + 1
	if i = p.strings.Next(start); p.peek(i) != '"' {
		var fault string
		ref.from = len(p.text)
		if p.text, ref.lone, i, fault = p.strings.Append(p.text, start, i); fault != "" || i == len(p.s) {
			return p.fail(i, fault)
		}
		ref.to = len(p.text)
	}
	return i + 1
}
