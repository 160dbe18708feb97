package source

import (
	"fmt"
	"slices"
	"strconv"
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
		p.reset(value)
		i := p.space(0)
		switch p.peek(i) {
		case '{':
			names, found := p.members(i, segment.name)
			if found == nil {
				return noSuchName(segment.name, walked, names)
			}
			value = found
		case '[':
			n, found := p.elements(i, segment.index)
			if found == nil {
				return fmt.Sprintf("%s is an array of %d, it has no element %q", walked, n, segment.name)
			}
			value = found
		default:
			return fmt.Sprintf("%s is %s, it has no key %q", walked, kindName(p.peek(i)), segment.name)
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

// members lists the names of the object at i, and returns the last value called
// name. The object is valid, so faults are not looked for.
func (p *jsonScanner) members(i int, name string) (names []string, found []byte) {
	for i = p.space(p.enter(i, true)); p.peek(i) == '"'; i = p.separator(i) {
		n, end := p.name(i)
		i = p.colon(end + 1)
		if string(n) == name {
			found, i = p.element(i)
			continue
		}
		if len(names) < maxNamesKept {
			names = append(names, string(n))
		}
		i = p.skip(i)
	}
	return names, found
}

// elements counts the elements of the array at i, and returns the one at index.
func (p *jsonScanner) elements(i, index int) (n int, found []byte) {
	for i = p.space(p.enter(i, false)); p.peek(i) != ']'; i = p.separator(i) {
		var v []byte
		if v, i = p.element(i); n == index {
			found = v
		}
		n++
	}
	return n, found
}

// separator passes over white space and a comma.
func (p *jsonScanner) separator(i int) int {
	if i = p.space(i); p.peek(i) == ',' {
		i = p.space(i + 1)
	}
	return i
}

// element reads a value and returns its bytes.
func (p *jsonScanner) element(i int) (value []byte, after int) {
	i = p.space(i)
	after = p.skip(i)
	return p.s[i:after], after
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
	var distinct []string
	for _, n := range names {
		if len(distinct) <= maxNamesShown && !slices.Contains(distinct, n) {
			distinct = append(distinct, n)
		}
	}
	return b.String() + " keys: " + listNames(distinct)
}

// listNames quotes the first of names for a message.
func listNames(names []string) string {
	var b strings.Builder
	for i, n := range names {
		if i > 0 {
			b.WriteString(", ")
		}
		if i == maxNamesShown {
			b.WriteString("…")
			break
		}
		b.WriteString(quoteName(n))
	}
	return b.String()
}

// quoteName quotes a name for a message, of a long one the beginning.
func quoteName(name string) string {
	n := 0
	for i := range name {
		if n++; n > maxNameShown {
			return strconv.Quote(name[:i] + "…")
		}
	}
	return strconv.Quote(name)
}
