package source

import (
	"bytes"
	"encoding/binary"
)

// jsonTemplate is how an object was written: its names, and all that stood between its
// values. The next line of a file is mostly written alike, and is then compared with it
// piece by piece instead of being taken apart; what is equal to a piece of sound JSON need
// not be checked again. Any difference is no fault: the line is read anew without it.
type jsonTemplate struct {
	members []templateMember
	after   []byte // what stood behind the last value
	text    []byte // what members and after lie in
	wait    int    // lines to be read before it is made anew
	pause   int    // how many those were last time, since it held
}

// templateMember is a member of the object.
type templateMember struct {
	// From the closing quote of the value before it, or its end, to the opening quote of
	// the value, or to the value if that is no string.
	before      []byte
	first, mask uint64 // its first bytes, and where they are
	last        uint64 // its last eight bytes, if it has so many
	quoted      bool   // the value is a string
	whole       int    // bit k: it is what path k leads to
}

const (
	maxTemplate = 64   // members of an object that is worth one
	maxPiece    = 1024 // bytes between values
	maxPause    = 1024 // lines
)

// compare reads the line as the template has it and sets found, and reports whether
// it could.
func (p *jsonScanner) compare(found *[maxPaths]jsonRef) bool {
	s := p.s
	p.depth = 1
	for k := range p.paths {
		found[k] = jsonRef{}
	}
	i := 0
	for k := range p.template.members {
		m := &p.template.members[k]
		if !m.at(s, i) {
			return false
		}
		i += len(m.before)
		p.strings.Seek(i)
		if !m.quoted {
			if i = p.skip(i); i == failed {
				return false
			}
			continue
		}
		start := i - 1
		i = p.strings.Next()
		var from, to, lone int
		if p.peek(i) != '"' {
			var fault string
			if m.whole == 0 {
				i, fault = p.strings.Skip(i)
			} else {
				from = len(p.text)
				p.text, lone, i, fault = p.strings.Append(p.text, start+1, i)
				to = len(p.text)
			}
			if fault != "" || i == len(s) {
				return false
			}
		}
		for k, whole := 0, m.whole; whole != 0; k, whole = k+1, whole>>1 {
			if f := &found[k]; whole&1 != 0 {
				f.start, f.end, f.from, f.to, f.lone = start, i+1, from, to, lone
			}
		}
	}
	return bytes.Equal(s[i:], p.template.after)
}

// member returns a member with so much before it.
func (t *jsonTemplate) member(before []byte) templateMember {
	m := templateMember{before: t.keep(before)}
	for j := range min(len(before), 8) {
		m.first |= uint64(before[j]) << (8 * j)
		m.mask |= 0xff << (8 * j)
	}
	if n := len(before); n >= 8 {
		m.last = binary.LittleEndian.Uint64(before[n-8:])
	}
	return m
}

// keep copies a piece of the line.
func (t *jsonTemplate) keep(piece []byte) []byte {
	n := len(t.text)
	t.text = append(t.text, piece...)
	return t.text[n:]
}

// at reports whether what is before the value stands at s[i].
func (m *templateMember) at(s []byte, i int) bool {
	rest, n := s[i:], len(m.before)
	if len(rest) < 8 || len(rest) < n {
		return len(rest) >= n && bytes.Equal(rest[:n], m.before)
	}
	if (binary.LittleEndian.Uint64(rest)^m.first)&m.mask != 0 {
		return false
	}
	if n <= 8 {
		return true
	}
	return binary.LittleEndian.Uint64(rest[n-8:]) == m.last && (n <= 16 || bytes.Equal(rest[:n], m.before))
}

// learn makes the line, which has just been read whole, the template, if it is an object
// that a template can be of.
func (p *jsonScanner) learn(line []byte) {
	if !p.learnMembers(line) {
		p.template.members = p.template.members[:0]
	}
}

func (p *jsonScanner) learnMembers(line []byte) bool {
	t := &p.template
	t.members, t.text = t.members[:0], t.text[:0]
	text := p.text // belongs to what was found
	p.reset(line)
	p.text = text
	i := p.space(0)
	if p.peek(i) != '{' {
		return false
	}
	for k := range p.paths {
		// Of longer paths, a name may hide what another would lead to.
		if segments := p.paths[k].segments; len(segments) != 1 || segments[0].rest != segments[0].name {
			return false
		}
	}
	from := 0
	i = p.space(p.enter(i, true))
	for p.peek(i) != '}' && len(t.members) < maxTemplate {
		name, end := p.name(i)
		if len(name) != end-i-1 {
			return false // it has escapes
		}
		whole := 0
		for k := range p.paths {
			if string(name) == p.paths[k].segments[0].name {
				whole |= 1 << k
			}
		}
		i = p.space(p.colon(end + 1))
		if i-from > maxPiece {
			return false
		}
		var m templateMember
		if p.peek(i) == '"' {
			m = t.member(line[from : i+1])
			m.quoted, m.whole = true, whole
			i = p.str()
			from = i - 1
		} else {
			if whole != 0 {
				return false // it may be anything next time
			}
			m = t.member(line[from:i])
			i = p.skip(i)
			from = i
		}
		t.members = append(t.members, m)
		if i = p.space(i); p.peek(i) == ',' {
			i = p.space(i + 1)
		}
	}
	if len(t.members) == maxTemplate || len(line)-from > maxPiece {
		return false
	}
	t.after = t.keep(line[from:])
	return true
}
