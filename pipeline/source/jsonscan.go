package source

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// maxPaths is how many paths one scan looks for: the text and the id.
const maxPaths = 2

// jsonRef is where a value lies in its line. The zero value is "not there": no
// value is empty.
type jsonRef struct {
	start, end int
	escaped    bool // a string with escapes
	wide       bool // a string that may have bytes from 0x80 on
}

func (r jsonRef) found() bool { return r.end > 0 }

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
// are long.
type jsonScanner struct {
	paths    []jsonPath
	maxDepth int

	s       []byte
	i       int
	depth   int      // arrays and objects open
	objects []uint64 // bit d: what is open at depth d is an object
	key     []byte   // scratch for names with escapes
}

// scan finds the paths in line. The error is a *syntaxError.
func (p *jsonScanner) scan(line []byte) (found [maxPaths]jsonRef, err error) {
	p.s, p.i, p.depth = line, 0, 0
	if need := p.maxDepth/64 + 1; len(p.objects) < need {
		p.objects = make([]uint64, need)
	}
	var at [maxPaths]int
	for k := len(p.paths); k < maxPaths; k++ {
		at[k] = offPath
	}
	if found, err = p.value(at); err != nil {
		return found, err
	}
	if p.space(); p.i < len(p.s) {
		return found, p.fail("more data after the value")
	}
	return found, nil
}

// offPath stands in place of a number of segments when a value is not on a path.
const offPath = -1

func (p *jsonScanner) fail(what string) error {
	if p.i >= len(p.s) {
		what = "the line ends early"
	}
	return &syntaxError{at: p.i, what: what}
}

// peek returns the next byte, 0 at the end. A 0 in the line is as invalid as
// its end wherever peek is used.
func (p *jsonScanner) peek() byte {
	if p.i < len(p.s) {
		return p.s[p.i]
	}
	return 0
}

func (p *jsonScanner) space() {
	for p.i < len(p.s) {
		switch p.s[p.i] {
		case ' ', '\t', '\r', '\n':
			p.i++
		default:
			return
		}
	}
}

// enter notes that an array or object is open.
func (p *jsonScanner) enter(object bool) error {
	if p.depth++; p.depth > p.maxDepth {
		return &syntaxError{at: p.i, what: fmt.Sprintf("nested deeper than %d", p.maxDepth), deep: true}
	}
	bit := uint64(1) << (p.depth & 63)
	if object {
		p.objects[p.depth>>6] |= bit
	} else {
		p.objects[p.depth>>6] &^= bit
	}
	p.i++
	return nil
}

func (p *jsonScanner) inObject() bool {
	return p.objects[p.depth>>6]>>(p.depth&63)&1 != 0
}

// value reads a value that lies at[k] segments down path k, and returns what is
// found of each path that is not offPath.
func (p *jsonScanner) value(at [maxPaths]int) (found [maxPaths]jsonRef, err error) {
	p.space()
	here, below := [maxPaths]bool{}, false
	for k := range p.paths {
		switch at[k] {
		case offPath:
		case len(p.paths[k].segments):
			here[k], at[k] = true, offPath
		default:
			below = true
		}
	}
	ref := jsonRef{start: p.i}
	switch c := p.peek(); {
	case c == '"':
		ref.escaped, ref.wide, err = p.str()
	case c == '{' && below:
		found, err = p.object(at)
	case c == '[' && below:
		found, err = p.array(at)
	default:
		err = p.skip()
	}
	ref.end = p.i
	for k := range p.paths {
		if here[k] {
			found[k] = ref
		}
	}
	return found, err
}

// object reads an object in which a path goes on.
func (p *jsonScanner) object(at [maxPaths]int) (sub [maxPaths]jsonRef, err error) {
	if err := p.enter(true); err != nil {
		return sub, err
	}
	// sub is what the next segment of each path leads to, whole the rest of it.
	var whole [maxPaths]jsonRef
	p.space()
	for first := true; ; first = false {
		if p.peek() == '}' && first {
			break
		}
		name, err := p.name()
		if err != nil {
			return sub, err
		}
		next := [maxPaths]int{offPath, offPath}
		var byRest [maxPaths]bool
		follow := false
		for k := range p.paths {
			if at[k] == offPath {
				continue
			}
			switch s := &p.paths[k].segments[at[k]]; {
			case string(name) == s.rest:
				next[k], byRest[k], follow = len(p.paths[k].segments), true, true
			case string(name) == s.name:
				next[k], follow = at[k]+1, true
			}
		}
		if follow {
			got, err := p.value(next)
			if err != nil {
				return sub, err
			}
			for k := range p.paths {
				switch {
				case next[k] == offPath:
				case byRest[k]:
					whole[k] = got[k]
				default:
					sub[k] = got[k]
				}
			}
		} else if err := p.skip(); err != nil {
			return sub, err
		}
		p.space()
		if c := p.peek(); c == '}' {
			break
		} else if c != ',' {
			return sub, p.fail("expected , or } after a member")
		}
		p.i++
		p.space()
	}
	p.i++
	p.depth--
	for k := range p.paths {
		if whole[k].found() {
			sub[k] = whole[k]
		}
	}
	return sub, nil
}

// array reads an array in which a path goes on.
func (p *jsonScanner) array(at [maxPaths]int) (found [maxPaths]jsonRef, err error) {
	if err := p.enter(false); err != nil {
		return found, err
	}
	p.space()
	if p.peek() == ']' {
		p.i++
		p.depth--
		return found, nil
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
			got, err := p.value(next)
			if err != nil {
				return found, err
			}
			for k := range p.paths {
				if next[k] != offPath {
					found[k] = got[k]
				}
			}
		} else if err := p.skip(); err != nil {
			return found, err
		}
		p.space()
		if c := p.peek(); c == ']' {
			p.i++
			p.depth--
			return found, nil
		} else if c != ',' {
			return found, p.fail("expected , or ] after an element")
		}
		p.i++
	}
}

// name reads the name of a member and the colon after it. The result is valid
// until the next call.
func (p *jsonScanner) name() ([]byte, error) {
	if p.peek() != '"' {
		return nil, p.fail("expected a name in double quotes")
	}
	start := p.i + 1
	escaped, _, err := p.str()
	if err != nil {
		return nil, err
	}
	name := p.s[start : p.i-1]
	if escaped {
		p.key, _ = appendUnescaped(p.key[:0], name)
		name = p.key
	}
	if p.space(); p.peek() != ':' {
		return nil, p.fail("expected : after a name")
	}
	p.i++
	return name, nil
}

// skip reads a value that is on no path.
func (p *jsonScanner) skip() error {
	base := p.depth
	for {
		p.space()
		var err error
		switch c := p.peek(); {
		case c == '"':
			_, _, err = p.str()
		case c == '{', c == '[':
			if err = p.enter(c == '{'); err != nil {
				return err
			}
			p.space()
			if p.peek() == c+2 { // } and ] lie two after { and [
				p.i++
				p.depth--
				break
			}
			if c == '{' {
				err = p.skipName()
			}
			if err != nil {
				return err
			}
			continue
		case c == '-' || c-'0' < 10:
			err = p.number()
		default:
			err = p.literal()
		}
		if err != nil {
			return err
		}
		more := false
		for p.depth > base && !more {
			p.space()
			object := p.inObject()
			switch c := p.peek(); {
			case c == ',':
				p.i++
				more = true
				if object {
					p.space()
					if err := p.skipName(); err != nil {
						return err
					}
				}
			case c == '}' && object, c == ']' && !object:
				p.i++
				p.depth--
			case object:
				return p.fail("expected , or } after a member")
			default:
				return p.fail("expected , or ] after an element")
			}
		}
		if !more {
			return nil
		}
	}
}

// skipName reads a name and the colon after it.
func (p *jsonScanner) skipName() error {
	if p.peek() != '"' {
		return p.fail("expected a name in double quotes")
	}
	if _, _, err := p.str(); err != nil {
		return err
	}
	if p.space(); p.peek() != ':' {
		return p.fail("expected : after a name")
	}
	p.i++
	return nil
}

func (p *jsonScanner) literal() error {
	for _, word := range [...]string{"true", "false", "null"} {
		if p.i+len(word) <= len(p.s) && string(p.s[p.i:p.i+len(word)]) == word {
			p.i += len(word)
			return nil
		}
	}
	return p.fail("expected a value")
}

func (p *jsonScanner) number() error {
	if p.peek() == '-' {
		p.i++
	}
	if p.peek() == '0' {
		p.i++
	} else if !p.digits() {
		return p.fail("expected a digit")
	}
	if p.peek() == '.' {
		p.i++
		if !p.digits() {
			return p.fail("expected a digit after the point")
		}
	}
	if c := p.peek(); c == 'e' || c == 'E' {
		p.i++
		if c := p.peek(); c == '+' || c == '-' {
			p.i++
		}
		if !p.digits() {
			return p.fail("expected a digit in the exponent")
		}
	}
	return nil
}

func (p *jsonScanner) digits() bool {
	start := p.i
	for p.peek()-'0' < 10 {
		p.i++
	}
	return p.i > start
}

// Words of one byte repeated, for looking at eight bytes at a time.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// specials marks, with its high bit, the first byte of w that is a quote, a
// backslash or below 0x20. Bytes after it may be marked wrongly: borrows run
// upwards.
func specials(w uint64) uint64 {
	quote := w ^ '"'*ones
	slash := w ^ '\\'*ones
	return ((quote-ones)&^quote | (slash-ones)&^slash | (w-0x20*ones)&^w) & highs
}

// str reads a string from its opening quote to after its closing one. wide may
// be true without need when bytes from 0x80 on come soon after the string.
func (p *jsonScanner) str() (escaped, wide bool, err error) {
	s, i := p.s, p.i+1
	var seen uint64
	for {
		for i+8 <= len(s) {
			w := binary.LittleEndian.Uint64(s[i:])
			seen |= w
			if m := specials(w); m != 0 {
				i += bits.TrailingZeros64(m) >> 3
				break
			}
			i += 8
		}
		for i < len(s) && s[i] >= 0x20 && s[i] != '"' && s[i] != '\\' {
			seen |= uint64(s[i])
			i++
		}
		p.i = i
		switch c := p.peek(); {
		case c == '"':
			p.i++
			return escaped, seen&highs != 0, nil
		case c == '\\':
			escaped = true
			if i, err = p.escape(); err != nil {
				return false, false, err
			}
		default:
			return false, false, p.fail("a control character in a string")
		}
	}
}

// escape checks the escape at p.i and returns where it ends.
func (p *jsonScanner) escape() (int, error) {
	p.i++
	switch p.peek() {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return p.i + 1, nil
	case 'u':
		for range 4 {
			p.i++
			if hexDigit[p.peek()] == notHex {
				return 0, p.fail("expected four hexadecimal digits after \\u")
			}
		}
		return p.i + 1, nil
	}
	return 0, p.fail("no such escape")
}
