package main

import (
	"context"
	"strconv"
	"sync"

	"github.com/rosaline-go/rosaline/rosa"
)

// maxAnswer is how many bytes of output are made ahead of what is written, by each
// worker: the rest is made when they are. A line of output may be as long as a
// thousand times its stream.
const maxAnswer = 32 << 20

// answers are the lines of output about streams, made a part after the other.
type answers struct {
	rows    *tokenRows
	matcher *matcher
	row     int  // at work on
	begun   bool // the row
	lines   []byte
	done    bool // lines are the last
}

// fill makes the next lines, until they are limit bytes.
func (a *answers) fill(limit int) {
	a.lines = a.lines[:0]
	for ; a.row < a.rows.len(); a.row++ {
		if !a.begun {
			if len(a.lines) >= limit {
				return
			}
			a.lines = append(a.lines, a.rows.head(a.row)...)
			a.matcher.begin(a.rows, a.row)
			a.begun = true
		}
		var ended bool
		if a.lines, ended = a.matcher.append(a.lines, limit); !ended {
			return
		}
		a.begun = false
	}
	a.done = true
}

// matching is the stage that finds the matches of streams and writes lines about them.
type matching struct {
	candidates candidatesValue
	limit      int       // of the lines made at once, in bytes
	pool       sync.Pool // *answers
	pause      func()
}

// Name implements [pipeline.Named].
func (*matching) Name() string { return "match" }

// Apply implements [pipeline.Transform].
func (m *matching) Apply(_ context.Context, r *tokenRows, emit func(*answers)) error {
	m.pause()
	if r.err != nil {
		return r.err
	}
	a, ok := m.pool.Get().(*answers)
	if !ok {
		a = &answers{matcher: &matcher{candidates: m.candidates}}
	}
	*a = answers{rows: r, matcher: a.matcher, lines: a.lines}
	a.fill(m.limit)
	emit(a)
	return nil
}

// maxPooledAnswers is the most memory in bytes that answers keep for others.
const maxPooledAnswers = 16 << 20

// release keeps the memory of answers, unless a long stream made it large.
func (m *matching) release(a *answers) {
	a.rows = nil
	if cap(a.lines)+a.matcher.bytes() <= maxPooledAnswers {
		m.pool.Put(a)
	}
}

// matcher answers one stream after the other.
type matcher struct {
	candidates candidatesValue
	finders    [2]finder // of tokens that are bytes, and of others
	finder     *finder   // of the stream

	tokens         []int64
	text           []byte  // instead of tokens
	length, source []int32 // of the matches
	part, at       int     // what is next in the line: the member, and its element
}

// finder finds what is written about a stream.
type finder struct {
	state      *rosa.State
	candidates *rosa.Candidates
	row        rosa.CandidateRows
}

// parts are the members of a line of output with an element a token; the last one is
// there if candidates are.
var parts = [...]string{`,"next":[`, `,"length":[`, `,"source":[`, `,"candidates":[`}

// begin finds the matches of row i.
func (m *matcher) begin(rows *tokenRows, i int) {
	m.tokens, m.text, m.part, m.at = nil, nil, 0, 0
	from, to := begin(rows.tokenEnds, i), rows.tokenEnds[i]
	kind := 0
	if rows.isText {
		m.text = rows.text[from:to]
	} else {
		m.tokens = rows.tokens[from:to]
		for _, t := range m.tokens {
			if uint64(t) > 255 {
				kind = 1
				break
			}
		}
	}
	m.finder = &m.finders[kind]
	m.finder.reset(m.candidates)
	m.length, m.source = m.length[:0], m.source[:0]
	for i := range to - from {
		match, _ := m.finder.state.Step(m.token(i)) // no line is as long as a state is large
		m.length = append(m.length, int32(match.Length))
		m.source = append(m.source, int32(match.Source))
	}
}

// token returns token i of the stream.
func (m *matcher) token(i int) int64 {
	if m.text != nil {
		return int64(m.text[i])
	}
	return m.tokens[i]
}

// reset begins a stream.
func (f *finder) reset(candidates candidatesValue) {
	if f.state == nil {
		f.state = rosa.NewState()
		if candidates.on() {
			f.candidates = rosa.NewCandidates(rosa.WithSuffixes(candidates.suffixes), rosa.WithOccurrences(candidates.occurrences))
			f.row = rosa.NewCandidateRows(1, f.candidates.Slots())
		}
		return
	}
	f.state.Reset()
	if f.candidates != nil {
		f.candidates.Reset()
	}
}

// bytes returns the memory that is held besides the streams.
func (m *matcher) bytes() int {
	n := 4 * (cap(m.length) + cap(m.source))
	for i := range m.finders {
		if f := &m.finders[i]; f.state != nil {
			n += f.state.Bytes()
			if f.candidates != nil {
				n += f.candidates.Bytes()
			}
		}
	}
	return n
}

// append appends what comes next of the line behind its id to dst, until that is limit
// bytes, and reports whether it was the last of the line.
func (m *matcher) append(dst []byte, limit int) ([]byte, bool) {
	members := len(parts)
	if !m.candidates.on() {
		members--
	}
	for ; m.part < members; m.part++ {
		if m.at == 0 {
			dst = append(dst, parts[m.part]...)
		}
		for ; m.at < len(m.source); m.at++ {
			if m.at > 0 {
				if len(dst) >= limit {
					return dst, false
				}
				dst = append(dst, ',')
			}
			dst = m.appendElement(dst)
		}
		dst = append(dst, ']')
		m.at = 0
	}
	return append(dst, "}\n"...), true
}

// appendElement appends the next element of a member.
func (m *matcher) appendElement(dst []byte) []byte {
	switch source := m.source[m.at]; m.part {
	case 0:
		if source < 0 {
			return append(dst, "-1"...)
		}
		return strconv.AppendInt(dst, m.token(int(source)+1), 10)
	case 1:
		return strconv.AppendInt(dst, int64(m.length[m.at]), 10)
	case 2:
		return strconv.AppendInt(dst, int64(source), 10)
	}
	// There is room: streams that are too long have been told.
	_ = m.finder.candidates.StepInto(&m.finder.row, m.token(m.at))
	return appendCandidates(dst, &m.finder.row)
}

// appendCandidates appends the candidates of a token, those of a suffix together.
func appendCandidates(dst []byte, row *rosa.CandidateRows) []byte {
	dst = append(dst, '[')
	n := int(row.Count[0])
	for i := 0; i < n; {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(append(dst, `{"source":`...), row.Source[i], 10)
		dst = strconv.AppendInt(append(dst, `,"length":`...), row.Length[i], 10)
		dst = strconv.AppendInt(append(dst, `,"frequency":`...), row.Frequency[i], 10)
		dst = append(dst, `,"occurrences":[`...)
		for first := i; i < n && row.State[i] == row.State[first]; i++ {
			if i > first {
				dst = append(dst, ',')
			}
			dst = strconv.AppendInt(dst, row.Source[i], 10)
		}
		dst = append(dst, "]}"...)
	}
	return append(dst, ']')
}
