package source

import (
	"fmt"
	"strconv"
	"sync"

	"github.com/rosaline-go/rosaline/cpu"
	"github.com/rosaline-go/rosaline/stringtensor"
)

// Decoder turns chunks into records. It may be used by any number of goroutines
// at once.
//
// A line of JSONL is one JSON value after RFC 8259; all of it is checked, even
// where it is not used, except that strings other than the text and the id need
// not be UTF-8. The text of a record is what lies at the text key: a string, a
// boolean or a number as its text (numbers with a point or an exponent as the
// shortest decimal of the same float64, 1e3 as 1000.0), an array or object as compact JSON
// with sorted names, null as a null row. The id is found likewise, except that
// numbers stay as they are written and null counts as missing; a record without
// one has "file:line".
//
// A line of text is the text of a record; its id is "file:line".
//
// Blank lines are skipped and counted: lines of text with nothing in them, lines
// of JSONL with nothing but white space.
type Decoder struct {
	cfg        decoderConfig
	paths      []jsonPath // text, and id if there is a key for it
	projection Projection
	state      sync.Pool // *decoding
}

// NewDecoder returns a decoder. The error wraps [ErrOption].
func NewDecoder(opts ...DecoderOption) (*Decoder, error) {
	d := &Decoder{cfg: defaultDecoderConfig()}
	for _, o := range opts {
		o(&d.cfg)
	}
	if err := d.cfg.validate(); err != nil {
		return nil, err
	}
	d.paths = append(d.paths, parsePath(d.cfg.textKey))
	if d.cfg.idKey != "" {
		d.paths = append(d.paths, parsePath(d.cfg.idKey))
	}
	d.projection = Projection{d.paths, d.cfg.metadata}
	return d, nil
}

// Decode decodes a chunk, which stays the caller's to release. A line that is
// not a record is no error, see [Records.Bad]. The error is that of the column,
// [stringtensor.ErrStringTooLong]; of a table also [ErrColumn] where one is missing
// or of a type that is no text, and [ErrCorrupt]. A chunk of a table can be decoded once.
func (d *Decoder) Decode(c *Chunk) (*Records, error) {
	if c.rows != nil {
		return d.decodeTable(c)
	}
	g, _ := d.state.Get().(*decoding)
	if g == nil {
		g = &decoding{cfg: &d.cfg, scan: jsonScanner{paths: d.paths, maxDepth: d.cfg.maxDepth}}
	}
	if c.Format == FormatJSONL {
		g.meta = newLineMetadata(&d.projection)
	}
	out, err := g.decode(c)
	// After an error the builders hold rows that must not reach another chunk.
	if err == nil && g.retained() <= maxScratch {
		d.state.Put(g)
	}
	return out, err
}

// maxScratch is how many bytes of scratch memory are kept between chunks.
const maxScratch = 1 << 20

// decoding is the state of one call of Decode.
type decoding struct {
	cfg   *decoderConfig
	scan  jsonScanner
	write jsonWriter
	text  field
	id    field

	chunk *Chunk
	out   *Records
	texts stringtensor.Builder
	ids   stringtensor.Builder
	meta  *lineMetadata // nil if none is wanted
}

func (g *decoding) retained() int {
	return cap(g.text.buf) + cap(g.text.valid) + cap(g.id.buf) + cap(g.id.valid) + cap(g.scan.key) + cap(g.scan.text) +
		cap(g.write.ends)*8 + cap(g.write.members)*32 + cap(g.write.names) + cap(g.write.text)
}

func (g *decoding) decode(c *Chunk) (*Records, error) {
	g.chunk = c
	g.out = &Records{
		file: c.File, first: c.first, padded: c.padded, places: make([]place, 0, c.Len()),
		Stats: Stats{Lines: int64(c.Len()) + c.blank, Blank: c.blank, BOMs: c.boms, Bytes: c.bytes, Dropped: c.dropped},
	}
	defer func() {
		g.chunk, g.out, g.write.s = nil, nil, nil
		g.scan.reset(nil)
	}()
	g.texts.Reserve(c.Len(), len(c.data))
	last := Position{File: c.File, Line: c.first + int64(c.Len())}
	if n := len(c.numbers); n > 0 {
		last.Line += int64(c.numbers[n-1])
	}
	g.ids.Reserve(c.Len(), c.Len()*len(last.appendTo(g.id.buf[:0])))
	for i := range c.spans {
		l := c.Line(i)
		var err error
		switch {
		case l.TooLong:
			g.reject(l.Pos, nil, BadLineLength, lengthDetail(l.Length, c.maxLine))
			b := &g.out.Bad[len(g.out.Bad)-1]
			b.Value, b.Bound = float64(l.Length), float64(c.maxLine)
		case c.Format == FormatText:
			err = g.textLine(i, l)
		default:
			err = g.jsonLine(i, l)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", l.Pos, err)
		}
	}
	out := g.out
	out.Text, out.ID = g.texts.Finish(), g.ids.Finish()
	out.Stats.Records = int64(len(out.places))
	out.Stats.Rejected = int64(len(out.Bad))
	if m := g.meta; m != nil {
		out.Meta, g.meta = m.finish(len(out.places)), nil
		out.Stats.Replaced += m.replaced
	}
	if c.padded {
		out.Stats = Stats{Padded: out.Stats.Records + out.Stats.Rejected}
	}
	return out, nil
}

func (g *decoding) textLine(i int, l Line) error {
	if len(l.Data) == 0 {
		g.out.Stats.Blank++
		return nil
	}
	f := &g.text
	f.set(l.Data, 0)
	if reason, detail := f.check(g.cfg); reason != BadNone {
		g.reject(l.Pos, nil, reason, detail)
		return nil
	}
	g.out.Stats.Replaced += int64(f.replaced)
	if err := g.texts.Append(f.value); err != nil {
		return err
	}
	return g.keep(i, l, nil)
}

func (g *decoding) jsonLine(i int, l Line) error {
	if isBlank(l.Data) {
		g.out.Stats.Blank++
		return nil
	}
	var refs [maxPaths]jsonRef
	if err := g.scan.scan(l.Data, &refs); err != nil {
		g.rejectSyntax(l, err.(*syntaxError))
		return nil
	}
	var id []byte // in g.id.value
	idReason, idDetail := BadNone, ""
	if ref := &refs[1]; ref.found() && l.Data[ref.start] != 'n' {
		if idReason, idDetail = g.read(&g.id, l.Data, ref, true); idReason == BadNone {
			id = g.id.value
		}
	}
	ref := &refs[0]
	if !ref.found() {
		g.reject(l.Pos, id, BadMissingKey, g.scan.missing(l.Data, g.scan.paths[0]))
		return nil
	}
	null := l.Data[ref.start] == 'n'
	if !null {
		if reason, detail := g.read(&g.text, l.Data, ref, false); reason != BadNone {
			g.reject(l.Pos, id, reason, "the text: "+detail)
			return nil
		}
	}
	if idReason != BadNone {
		g.reject(l.Pos, nil, idReason, "the id: "+idDetail)
		return nil
	}
	if null {
		g.out.Stats.Nulls++
		g.texts.AppendNull()
	} else {
		g.out.Stats.Replaced += int64(g.text.replaced)
		if err := g.texts.Append(g.text.value); err != nil {
			return err
		}
	}
	if id != nil {
		g.out.Stats.Replaced += int64(g.id.replaced)
	}
	return g.keep(i, l, id)
}

// isBlank reports whether a line holds nothing but JSON's white space.
func isBlank(line []byte) bool {
	for _, c := range line {
		if c != ' ' && c != '\t' && c != '\r' {
			return false
		}
	}
	return true
}

// isWhite reports whether a piece of a line, its end included, may be of a blank
// one.
func isWhite(piece []byte) bool {
	if n := len(piece); n > 0 && piece[n-1] == '\n' {
		piece = piece[:n-1]
	}
	return isBlank(piece)
}

// keep adds the id of a record whose text has been added; nil stands for its
// place.
func (g *decoding) keep(i int, l Line, id []byte) error {
	g.out.places = append(g.out.places, place{l.Pos.Offset, g.chunk.line(i), id != nil && g.id.number})
	if g.meta != nil {
		g.meta.add(l.Data)
	}
	if id == nil {
		g.id.buf = l.Pos.appendTo(g.id.buf[:0])
		id = g.id.buf
	}
	return g.ids.Append(id)
}

// read makes the text of a value that is not null.
func (g *decoding) read(f *field, line []byte, ref *jsonRef, verbatim bool) (BadReason, string) {
	raw := line[ref.start:ref.end]
	f.number = raw[0] == '-' || raw[0]-'0' < 10
	switch c := raw[0]; {
	case c == '"' && !ref.escaped():
		f.set(raw[1:len(raw)-1], 0)
	case c == '"':
		f.set(g.scan.text[ref.from:ref.to], ref.lone)
	case c == '{' || c == '[':
		var err error
		if f.buf, err = g.write.append(f.buf[:0], raw); err != nil {
			return BadNumber, "it holds a number outside the range of a float64"
		}
		f.set(f.buf, g.write.lone)
	case c == 't' || c == 'f' || verbatim:
		f.set(raw, 0)
		return BadNone, ""
	default:
		var err error
		if f.buf, err = appendNumber(f.buf[:0], raw); err != nil {
			return BadNumber, "it is a number outside the range of a float64"
		}
		f.set(f.buf, 0)
		return BadNone, ""
	}
	return f.check(g.cfg)
}

// field is a text or id under way.
type field struct {
	value    []byte // in the line, the scanner, buf or valid
	number   bool   // it is a JSON number
	replaced int    // U+FFFD put in place of something
	buf      []byte
	valid    []byte
}

func (f *field) set(value []byte, lone int) { f.value, f.replaced = value, lone }

// check applies the policies. f.replaced is the number of half surrogate pairs.
func (f *field) check(cfg *decoderConfig) (BadReason, string) {
	if f.replaced > 0 && cfg.surrogates == Reject {
		return BadSurrogate, "\\u escapes that are half of a surrogate pair: " + strconv.Itoa(f.replaced)
	}
	if cpu.ValidUTF8(f.value) {
		return BadNone, ""
	}
	n, first := invalidBytes(f.value)
	if cfg.invalidUTF8 == Reject {
		return BadUTF8, fmt.Sprintf("bytes that are not UTF-8: %d, the first is 0x%02x at byte %d", n, f.value[first], first+1)
	}
	f.valid = appendValid(f.valid[:0], f.value)
	f.value = f.valid
	f.replaced += n
	return BadNone, ""
}

func (g *decoding) rejectSyntax(l Line, e *syntaxError) {
	reason, detail := e.describe(l.Data)
	g.reject(l.Pos, nil, reason, detail)
	if reason != BadDepth {
		return
	}
	b := &g.out.Bad[len(g.out.Bad)-1]
	b.Value, b.Bound = float64(g.cfg.maxDepth+1), float64(g.cfg.maxDepth)
}

func (g *decoding) reject(pos Position, id []byte, reason BadReason, detail string) {
	name := string(id)
	if id == nil {
		name = pos.String()
	}
	g.out.Bad = append(g.out.Bad, BadRecord{
		Index: len(g.out.places), Pos: pos, ID: name, Reason: reason, NumberID: id != nil && g.id.number,
		Err: lineError(pos, reason, detail),
	})
}
