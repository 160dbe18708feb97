package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/rosaline-go/rosaline/cmd/rosaline/internal/jsonl"
	"github.com/rosaline-go/rosaline/pipeline/source"
	"github.com/rosaline-go/rosaline/rosa"
)

// errTokens says that a record has no list of tokens.
var errTokens = errors.New("no list of tokens")

// tokenRows are the streams of the lines of a chunk.
type tokenRows struct {
	heads     []byte // begins of lines of output about them: {"id":…
	headEnds  []int
	tokens    []int64
	text      []byte // instead of tokens
	isText    bool
	tokenEnds []int // in tokens or text
	bad       int   // lines that are not records, skipped
	err       error // ends the stream here; there are no rows then
}

func (r *tokenRows) len() int { return len(r.headEnds) }

// head returns the begin of the line of output about row i.
func (r *tokenRows) head(i int) []byte { return r.heads[begin(r.headEnds, i):r.headEnds[i]] }

// begin returns where span i begins, of spans of which each begins where the one before
// it ends.
func begin(ends []int, i int) int {
	if i == 0 {
		return 0
	}
	return ends[i-1]
}

// endRow ends a row.
func (r *tokenRows) endRow() {
	r.headEnds = append(r.headEnds, len(r.heads))
	r.tokenEnds = append(r.tokenEnds, len(r.tokens)+len(r.text))
}

// tokenizing is the stage that makes streams of chunks and releases them. Unless bad
// records are skipped, the first one ends the stream behind the records before it.
type tokenizing struct {
	decoder    *source.Decoder
	skip       bool
	maxLine    int64
	candidates bool
	pause      func()
}

func (f *rosaFlags) newTokenizing(pause func()) (*tokenizing, error) {
	d, err := f.newDecoder()
	if err != nil {
		return nil, err
	}
	return &tokenizing{decoder: d, skip: f.skip(), maxLine: f.maxLine.n, candidates: f.candidates.on(), pause: pause}, nil
}

// Name implements [pipeline.Named].
func (*tokenizing) Name() string { return "decode" }

// Apply implements [pipeline.Transform].
func (t *tokenizing) Apply(_ context.Context, c *source.Chunk, emit func(*tokenRows)) error {
	t.pause()
	defer c.Release()
	rows := &tokenRows{}
	var err error
	if c.Format == source.FormatText {
		rows.isText = true
		err = t.texts(rows, c)
	} else {
		err = t.records(rows, c)
	}
	emit(rows)
	if err != nil {
		emit(&tokenRows{err: err})
	}
	return nil
}

// reject counts a bad record, or returns what is to end the stream.
func (t *tokenizing) reject(rows *tokenRows, err error) error {
	if !t.skip {
		return err
	}
	rows.bad++
	return nil
}

// texts makes streams of the bytes of lines, whatever they are. A blank line is one
// without tokens.
func (t *tokenizing) texts(rows *tokenRows, c *source.Chunk) error {
	for i := range c.Len() {
		l := c.Line(i)
		var err error
		if l.TooLong {
			err = fmt.Errorf("%s: at byte %d: %w: %d bytes, the cap is %d", l.Pos, l.Pos.Offset, source.ErrLineTooLong, l.Length, t.maxLine)
			err = badRecordError(source.BadRecord{Reason: source.BadLineLength, Err: err})
		} else {
			err = t.tooMany(l.Pos, len(l.Data))
		}
		if err != nil {
			if err = t.reject(rows, err); err != nil {
				return err
			}
			continue
		}
		rows.heads = jsonl.AppendString(append(rows.heads, `{"id":`...), l.Pos.String())
		rows.text = append(rows.text, l.Data...)
		rows.endRow()
	}
	return nil
}

// tooMany returns an error if a stream is longer than what finds candidates can take.
func (t *tokenizing) tooMany(pos source.Position, n int) error {
	if !t.candidates || n <= rosa.MaxCandidateTokens {
		return nil
	}
	return tokensError(pos, fmt.Sprintf("%d tokens, and candidates are of %d at most; divide the line, leave out --candidates",
		n, rosa.MaxCandidateTokens))
}

// records makes streams of lines of JSON.
func (t *tokenizing) records(rows *tokenRows, c *source.Chunk) error {
	r, err := t.decoder.Decode(c)
	if err != nil {
		return capError(err)
	}
	bad, line := 0, 0
	for i := range r.Len() + 1 {
		for ; bad < len(r.Bad) && r.Bad[bad].Index <= i; bad++ {
			if err := t.reject(rows, badRecordError(r.Bad[bad])); err != nil {
				return err
			}
		}
		if i == r.Len() {
			break
		}
		for c.Line(line).Pos.Line != r.Pos(i).Line {
			line++
		}
		n := len(rows.tokens)
		if err := rows.appendList(r, i, c.Line(line).Data); err != nil {
			err = tokensError(r.Pos(i), err.Error())
			rows.tokens = rows.tokens[:n]
			if err = t.reject(rows, err); err != nil {
				return err
			}
			continue
		}
		if err := t.tooMany(r.Pos(i), len(rows.tokens)-n); err != nil {
			rows.tokens = rows.tokens[:n]
			if err = t.reject(rows, err); err != nil {
				return err
			}
			continue
		}
		rows.heads = jsonl.AppendID(append(rows.heads, `{"id":`...), r.ID.Bytes(i), r.NumberID(i))
		rows.endRow()
	}
	return nil
}

// tokensError says what is wrong with the tokens of a record, and what to do.
func tokensError(pos source.Position, what string) error {
	return fmt.Errorf("%s: at byte %d: %w: %s, or drop such records with --on-error skip", pos, pos.Offset, errTokens, what)
}

// appendList appends the tokens of record i, which is on the given line.
func (r *tokenRows) appendList(records *source.Records, i int, line []byte) error {
	if records.Text.IsNull(i) {
		return errors.New(`"tokens" is null; make it a list`)
	}
	list := records.Text.Bytes(i)
	if len(list) == 0 || list[0] != '[' || isStringOf(line) {
		return errors.New(`"tokens" is no list; make it one of whole numbers`)
	}
	var err error
	r.tokens, err = appendTokens(r.tokens, list)
	return err
}

// isStringOf reports whether the tokens of a record are a string, which may read like a
// list: the text of a record does not tell. Few records have what such a string begins with.
func isStringOf(line []byte) bool {
	if !bytes.Contains(line, []byte(`"[`)) && !bytes.Contains(line, []byte(`"\u005`)) {
		return false
	}
	var members map[string]json.RawMessage
	return json.Unmarshal(line, &members) == nil && bytes.HasPrefix(members["tokens"], []byte{'"'})
}

// appendTokens appends the elements of a list to dst, which is valid JSON without white
// space.
func appendTokens(dst []int64, list []byte) ([]int64, error) {
	list = list[1:]
	if list[0] == ']' {
		return dst, nil
	}
	for i := 0; ; i++ {
		n, rest, err := cutToken(list)
		if err != nil {
			return dst, fmt.Errorf("element %d of \"tokens\" %w", i, err)
		}
		dst = append(dst, n)
		if rest[0] == ']' {
			return dst, nil
		}
		list = rest[1:]
	}
}

// cutToken returns the token that list begins with, and what follows it.
func cutToken(list []byte) (int64, []byte, error) {
	at, negative := 0, list[0] == '-'
	if negative {
		at = 1
	}
	const most = 19 // digits of an int64; those of no uint64 that does not fit
	var n uint64
	from := at
	for ; list[at]-'0' < 10; at++ {
		if at-from == most {
			return 0, nil, errRange
		}
		n = 10*n + uint64(list[at]-'0')
	}
	switch {
	case at == from, list[at] != ',' && list[at] != ']':
		return 0, nil, errWhole
	case negative && n <= 1<<63:
		return -int64(n), list[at:], nil
	case negative || n > math.MaxInt64:
		return 0, nil, errRange
	}
	return int64(n), list[at:], nil
}

// What elements of lists are that are no tokens.
var (
	errWhole = errors.New("is no whole number; write tokens without a point or an exponent")
	errRange = errors.New("is out of range; tokens are from -9223372036854775808 to 9223372036854775807")
)
