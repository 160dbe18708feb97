package source

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"unsafe"

	"github.com/rosaline-go/rosaline/internal/jsonstring"
)

// jsonWriter writes a valid JSON value anew: compact, the members of each object
// sorted by name (bytewise; of equal names the last stays), numbers by
// [appendNumber]. It works in O(n log n) whatever the nesting: a first pass
// notes where each array and object ends, so that the members of an object can
// be listed without walking through them.
type jsonWriter struct {
	s       []byte
	ends    []valueEnd // of arrays and objects, in the order of their beginnings
	members []member   // of the objects being written, innermost last
	names   []byte     // unescaped names
	text    []byte     // scratch for a string
	lone    int        // halves of surrogate pairs met
}

// valueEnd is where an array or object ends, and the number of the first one
// that begins after it.
type valueEnd struct{ end, next int32 }

type member struct {
	name        []byte
	value, open int32 // place of the value, and number of the next array or object there
}

// append appends the value that is s.
func (w *jsonWriter) append(dst, s []byte) ([]byte, error) {
	w.s, w.ends, w.members, w.names, w.lone = s, w.ends[:0], w.members[:0], w.names[:0], 0
	w.findEnds()
	dst, _, _, err := w.value(dst, 0, 0)
	return dst, err
}

func (w *jsonWriter) findEnds() {
	parent := int32(-1) // while one is open, its end field holds its parent
	for i := 0; i < len(w.s); i++ {
		switch w.s[i] {
		case '"':
			i = w.stringEnd(i) - 1
		case '{', '[':
			w.ends = append(w.ends, valueEnd{end: parent})
			parent = int32(len(w.ends) - 1)
		case '}', ']':
			e := &w.ends[parent]
			parent = e.end
			e.end, e.next = int32(i+1), int32(len(w.ends))
		}
	}
}

// stringEnd returns the place after the string that begins at i.
func (w *jsonWriter) stringEnd(i int) int {
	for i++; ; {
		i += bytes.IndexByte(w.s[i:], '"')
		slashes := 0
		for w.s[i-1-slashes] == '\\' {
			slashes++
		}
		if i++; slashes&1 == 0 {
			return i
		}
	}
}

// separators passes over white space, commas and colons.
func (w *jsonWriter) separators(i int) int {
	for i < len(w.s) {
		switch w.s[i] {
		case ' ', '\t', '\r', '\n', ',', ':':
			i++
		default:
			return i
		}
	}
	return i
}

// scalarEnd returns the place after the number or word that begins at i.
func (w *jsonWriter) scalarEnd(i int) int {
	for ; i < len(w.s); i++ {
		switch w.s[i] {
		case ' ', '\t', '\r', '\n', ',', '}', ']':
			return i
		}
	}
	return i
}

// value writes the value at i; open is the number of the next array or object.
// It returns the place after the value, and the number of the next array or
// object there.
func (w *jsonWriter) value(dst []byte, i, open int) ([]byte, int, int, error) {
	var err error
	switch c := w.s[i]; c {
	case '"':
		end := w.stringEnd(i)
		return w.str(dst, w.s[i:end]), end, open, nil
	case '[':
		dst = append(dst, '[')
		i, open = i+1, open+1
		for n := 0; ; n++ {
			if i = w.separators(i); w.s[i] == ']' {
				return append(dst, ']'), i + 1, open, nil
			}
			if n > 0 {
				dst = append(dst, ',')
			}
			if dst, i, open, err = w.value(dst, i, open); err != nil {
				return dst, 0, 0, err
			}
		}
	case '{':
		e := w.ends[open]
		dst, err = w.object(dst, i, open+1)
		return dst, int(e.end), int(e.next), err
	case 't', 'f', 'n':
		end := w.scalarEnd(i)
		return append(dst, w.s[i:end]...), end, open, nil
	}
	end := w.scalarEnd(i)
	dst, err = appendNumber(dst, w.s[i:end])
	return dst, end, open, err
}

func (w *jsonWriter) object(dst []byte, i, open int) ([]byte, error) {
	mark := len(w.members)
	for i = w.separators(i + 1); w.s[i] != '}'; i = w.separators(i) {
		end := w.stringEnd(i)
		m := member{name: w.name(w.s[i+1 : end-1])}
		i = w.separators(end)
		m.value, m.open = int32(i), int32(open)
		w.members = append(w.members, m)
		switch w.s[i] {
		case '"':
			i = w.stringEnd(i)
		case '{', '[':
			e := w.ends[open]
			i, open = int(e.end), int(e.next)
		default:
			i = w.scalarEnd(i)
		}
	}
	members := w.members[mark:]
	slices.SortFunc(members, func(a, b member) int {
		return cmp.Or(bytes.Compare(a.name, b.name), cmp.Compare(a.value, b.value))
	})
	dst = append(dst, '{')
	written := false
	for k := range len(members) {
		// Writing a value may move w.members, so it is indexed anew.
		m := w.members[mark+k]
		if k+1 < len(members) && bytes.Equal(m.name, w.members[mark+k+1].name) {
			continue
		}
		if written {
			dst = append(dst, ',')
		}
		written = true
		dst = append(jsonstring.AppendQuoted(dst, m.name), ':')
		var err error
		if dst, _, _, err = w.value(dst, int(m.value), int(m.open)); err != nil {
			return dst, err
		}
	}
	w.members = w.members[:mark]
	return append(dst, '}'), nil
}

// name unescapes a name. The result stays valid while names grows.
func (w *jsonWriter) name(raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw
	}
	from, lone := len(w.names), 0
	w.names, lone = jsonstring.AppendUnquoted(w.names, raw)
	w.lone += lone
	return w.names[from:len(w.names):len(w.names)]
}

// str writes a string anew, so that equal strings are written alike.
func (w *jsonWriter) str(dst, quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return append(dst, quoted...)
	}
	var lone int
	w.text, lone = jsonstring.AppendUnquoted(w.text[:0], quoted[1:len(quoted)-1])
	w.lone += lone
	return jsonstring.AppendQuoted(dst, w.text)
}

// appendNumber appends the text of a JSON number. An integer stays as it is
// written, whatever its size. A number with a point or an exponent is written as
// the shortest decimal that reads back as the same float64, always with a point
// or an exponent: 1e3 is 1000.0, 1.50 is 1.5. The error is [ErrNumber].
func appendNumber(dst, raw []byte) ([]byte, error) {
	if !bytes.ContainsAny(raw, ".eE") {
		return append(dst, raw...), nil
	}
	f, err := strconv.ParseFloat(unsafe.String(unsafe.SliceData(raw), len(raw)), 64)
	if err != nil {
		// Not wrapped: the error of strconv would keep the bytes of the line.
		return dst, ErrNumber
	}
	var buf [32]byte
	b := strconv.AppendFloat(buf[:0], f, 'e', -1, 64)
	if b[0] == '-' {
		dst = append(dst, '-')
		b = b[1:]
	}
	// b is d.ddde±xx or de±xx.
	e := bytes.IndexByte(b, 'e')
	exp := 0
	for _, c := range b[e+2:] {
		exp = exp*10 + int(c-'0')
	}
	if b[e+1] == '-' {
		exp = -exp
	}
	digits := b[:e]
	if e > 1 {
		digits = append(b[:1], b[2:e]...)
	}
	return layOut(dst, digits, exp+1), nil
}

// layOut writes 0.digits × 10^point, plainly if the point lies in or near the
// digits.
func layOut(dst, digits []byte, point int) []byte {
	switch {
	case string(digits) == "0":
		return append(dst, "0.0"...)
	case point > 16 || point <= -5:
		dst = append(dst, digits[0])
		if len(digits) > 1 {
			dst = append(append(dst, '.'), digits[1:]...)
		}
		return strconv.AppendInt(append(dst, 'e'), int64(point-1), 10)
	case point <= 0:
		dst = append(dst, "0.00000"[:2-point]...)
		return append(dst, digits...)
	case point >= len(digits):
		dst = append(dst, digits...)
		dst = append(dst, "0000000000000000"[:point-len(digits)]...)
		return append(dst, ".0"...)
	}
	dst = append(dst, digits[:point]...)
	return append(append(dst, '.'), digits[point:]...)
}
