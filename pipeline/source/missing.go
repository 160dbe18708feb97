package source

import (
	"fmt"
	"slices"
	"strings"
)

// How much of a record a message about a missing key shows.
const (
	maxNamesKept  = 256 // names looked at for a close one
	maxNamesShown = 8
	maxNameShown  = 40 // code points of a name
)

// missing says at which step path leads nowhere in line, which is valid, and
// which names are there instead.
func (p *jsonScanner) missing(line []byte, path jsonPath) string {
	value, walked := line, "the record"
	for _, segment := range path.segments {
		p.s, p.i, p.depth = value, 0, 0
		p.space()
		switch p.peek() {
		case '{':
			names, found := p.members(segment.name)
			if found == nil {
				return noSuchName(segment.name, walked, names)
			}
			value = found
		case '[':
			n, found := p.elements(segment.index)
			if found == nil {
				return fmt.Sprintf("%s is an array of %d, it has no element %q", walked, n, segment.name)
			}
			value = found
		default:
			return fmt.Sprintf("%s is %s, it has no key %q", walked, kindName(p.peek()), segment.name)
		}
		if walked == "the record" {
			walked = segment.name
		} else {
			walked += "." + segment.name
		}
	}
	return fmt.Sprintf("nothing at %q", path.text)
}

func kindName(first byte) string {
	switch first {
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

// members lists the names of the object at p.i, and returns the last value
// called name. The object is valid, so errors are not looked at.
func (p *jsonScanner) members(name string) (names []string, found []byte) {
	_ = p.enter(true)
	for p.space(); p.peek() == '"'; p.space() {
		n, _ := p.name()
		if string(n) == name {
			found = p.element()
		} else {
			if len(names) < maxNamesKept {
				names = append(names, string(n))
			}
			_ = p.skip()
		}
		if p.space(); p.peek() == ',' {
			p.i++
		}
	}
	return names, found
}

// elements counts the elements of the array at p.i, and returns the one at
// index.
func (p *jsonScanner) elements(index int) (n int, found []byte) {
	_ = p.enter(false)
	for p.space(); p.peek() != ']'; p.space() {
		if v := p.element(); n == index {
			found = v
		}
		n++
		if p.space(); p.peek() == ',' {
			p.i++
		}
	}
	return n, found
}

// element reads a value and returns its bytes.
func (p *jsonScanner) element() []byte {
	p.space()
	start := p.i
	_ = p.skip()
	return p.s[start:p.i]
}

func noSuchName(name, where string, names []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "no key %q in %s", name, where)
	if len(names) == 0 {
		return b.String() + ", which is empty"
	}
	if near := closestNames(name, names); len(near) > 0 {
		fmt.Fprintf(&b, "; did you mean %q?", near[0])
	} else {
		b.WriteByte(';')
	}
	b.WriteString(" keys:")
	distinct := names[:0:0]
	for _, n := range names {
		if len(distinct) == maxNamesShown {
			b.WriteString(", …")
			break
		}
		if slices.Contains(distinct, n) {
			continue
		}
		if len(distinct) > 0 {
			b.WriteByte(',')
		}
		distinct = append(distinct, n)
		if r := []rune(n); len(r) > maxNameShown {
			n = string(r[:maxNameShown]) + "…"
		}
		fmt.Fprintf(&b, " %q", n)
	}
	return b.String()
}
