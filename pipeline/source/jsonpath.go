package source

import "strings"

// jsonPath is a dotted path into a JSON value.
//
// At an object, a member whose name is the whole rest of the path wins over one
// whose name is the next segment; of members with one name the last wins. At an
// array, a segment of digits is an index. Empty segments do not count, so "."
// is the whole value.
type jsonPath struct {
	text     string
	segments []pathSegment
}

type pathSegment struct {
	name  string
	rest  string // the path from this segment on, as written
	last  bool   // no segment follows
	index int    // as an index, −1 if it is none
}

func parsePath(text string) jsonPath {
	p := jsonPath{text: text}
	for at := 0; at < len(text); {
		name, _, _ := strings.Cut(text[at:], ".")
		if name != "" {
			rest := text[at:]
			if len(p.segments) == 0 {
				rest = text
			}
			s := pathSegment{name: name, rest: rest, index: pathIndex(name)}
			p.segments = append(p.segments, s)
		}
		at += len(name) + 1
	}
	if n := len(p.segments); n > 0 {
		p.segments[n-1].last = true
	}
	return p
}

// pathIndex reads an index: digits without a leading zero, few enough for any
// int.
func pathIndex(s string) int {
	if len(s) > 9 || len(s) > 1 && s[0] == '0' {
		return -1
	}
	n := 0
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return -1
		}
		n = n*10 + int(s[i]-'0')
	}
	return n
}
