package stringtensor

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/rosaline-go/rosaline/cpu"
)

// maxRows is the most rows of a column: row numbers are uint32, and the views are
// one Go slice.
const maxRows = min(math.MaxUint32, math.MaxInt/ViewSize)

// FromOffsets returns the column whose row i is payload[offsets[i]:offsets[i+1]],
// without copying the payload. N rows take N+1 offsets; no offsets at all stand
// for no rows. The first offset may be above 0 and the last below the length of
// the payload. A payload that is longer than a buffer may be becomes several
// buffers, cut between rows. It takes O(N + len(payload)) time, of which the
// payload's part is the check for UTF-8.
//
// The payload must not change any more, and the column may keep it alive as a
// whole. Rows that [WithValidity] calls null may span anything.
//
// Errors: [ErrInvalid] for offsets that are negative, decrease, or point beyond
// the payload; [ErrInvalidUTF8], also when an offset is inside a character;
// [ErrStringTooLong], [ErrTooManyRows], and [ErrLengthMismatch] when the validity
// is too short. Each names the first bad offset or row.
func FromOffsets[T int32 | uint32 | int64](offsets []T, payload []byte, opts ...OffsetsOption) (*Column, error) {
	cfg := newOffsetsConfig(opts)
	n := max(len(offsets)-1, 0)
	nulls, err := cfg.nulls(n)
	if err != nil {
		return nil, err
	}
	if err := checkOffsets(offsets, len(payload)); err != nil {
		return nil, err
	}
	if !cfg.raw && n > 0 {
		if err := checkUTF8(offsets, payload, cfg.valid, nulls); err != nil {
			return nil, err
		}
	}
	views := unzeroed[StringView16](n)
	var windows [][]byte
	start, end := 0, -1 // of the window being made; end < 0: none
	e := 0
	if n > 0 {
		e = int(offsets[0])
	}
	for i := range views {
		o := e
		e = int(offsets[i+1])
		if nulls > 0 && !cfg.valid.get(i) {
			views[i] = StringView16{}
			continue
		}
		if e-o <= MaxInline {
			views[i] = inlineFrom(payload, o, e-o)
			continue
		}
		if e-o > cfg.limit {
			return nil, fmt.Errorf("%w: row %d has %d bytes, the limit is %d", ErrStringTooLong, i, e-o, cfg.limit)
		}
		if end < 0 {
			start = o
		} else if e-start > cfg.limit {
			windows = append(windows, window(payload, start, end))
			start = o
		}
		end = e
		views[i] = pooledView(payload[o:e], len(windows), o-start)
	}
	if end >= 0 {
		windows = append(windows, window(payload, start, end))
	}
	return cfg.column(views, windows, nulls), nil
}

// window returns bytes start to end of payload as the memory of a buffer: at
// most Slack bytes after it may be read, so that windows hardly overlap.
func window(payload []byte, start, end int) []byte {
	return payload[start:end:min(end+Slack, len(payload))]
}

// column makes the column of views into windows.
func (cfg *offsetsConfig) column(views []StringView16, windows [][]byte, nulls int) *Column {
	if cfg.release == nil {
		buffers := make([]*Buffer, len(windows))
		for i, w := range windows {
			buffers[i] = NewBuffer(w, nil)
		}
		return newColumn(views, buffers, cfg.valid, nulls)
	}
	// One owner stands behind all windows and the validity: each has a claim on
	// it, and the construction gives up its own at the end.
	owner := NewBuffer(nil, cfg.release)
	buffers := make([]*Buffer, len(windows))
	for i, w := range windows {
		owner.Retain()
		buffers[i] = NewBuffer(w, owner.Release)
	}
	var extra []*Buffer
	if nulls > 0 {
		extra = append(extra, owner)
	}
	c := newColumn(views, buffers, cfg.valid, nulls, extra...)
	for _, b := range buffers {
		b.Release()
	}
	owner.Release()
	return c
}

// nulls checks that the validity covers n rows and counts the null ones.
func (cfg *offsetsConfig) nulls(n int) (int, error) {
	if uint64(n) > maxRows {
		return 0, fmt.Errorf("%w: %d", ErrTooManyRows, n)
	}
	if !cfg.valid.present() {
		return 0, nil
	}
	if !cfg.valid.holds(n) {
		return 0, fmt.Errorf("%w: %d bytes of validity from bit %d for %d rows", ErrLengthMismatch, len(cfg.valid.bits), cfg.valid.off, n)
	}
	return n - cfg.valid.ones(n), nil
}

// checkOffsets checks that the offsets begin at 0 or above, never decrease, and
// end within size.
func checkOffsets[T int32 | uint32 | int64](offsets []T, size int) error {
	if len(offsets) == 0 {
		return nil
	}
	if offsets[0] < 0 {
		return fmt.Errorf("%w: offset 0 is %d, below 0", ErrInvalid, offsets[0])
	}
	for i := 1; i < len(offsets); i++ {
		if offsets[i] < offsets[i-1] {
			return fmt.Errorf("%w: offset %d is %d, below offset %d, which is %d", ErrInvalid, i, offsets[i], i-1, offsets[i-1])
		}
	}
	// They do not decrease, so the last is the greatest. The comparison is in 64
	// bits: an offset may not fit an int.
	if int64(offsets[len(offsets)-1]) <= int64(size) {
		return nil
	}
	for i, o := range offsets {
		if int64(o) > int64(size) {
			return fmt.Errorf("%w: offset %d is %d, beyond the payload of %d bytes", ErrInvalid, i, o, size)
		}
	}
	return nil
}

// checkUTF8 checks that every row that is not null is UTF-8. The offsets are
// checked.
func checkUTF8[T int32 | uint32 | int64](offsets []T, payload []byte, valid bitmap, nulls int) error {
	if cpu.ValidUTF8(payload[offsets[0]:offsets[len(offsets)-1]]) {
		// The whole is UTF-8, so the rows are unless a border cuts a character.
		last, cut := offsets[len(offsets)-1], false
		for _, o := range offsets[1:] {
			if o == last {
				break
			}
			if !utf8.RuneStart(payload[o]) {
				cut = true
				break
			}
		}
		if !cut {
			return nil
		}
	}
	for i := range len(offsets) - 1 {
		if nulls > 0 && !valid.get(i) {
			continue
		}
		if err := rowUTF8(i, payload[offsets[i]:offsets[i+1]]); err != nil {
			return fmt.Errorf("%w (offset %d is %d)", err, i, offsets[i])
		}
	}
	return nil
}

// rowUTF8 checks that row i is UTF-8.
func rowUTF8(i int, row []byte) error {
	if cpu.ValidUTF8(row) {
		return nil
	}
	at := 0
	for at < len(row) {
		r, size := utf8.DecodeRune(row[at:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		at += size
	}
	return fmt.Errorf("%w: row %d, byte %d of it", ErrInvalidUTF8, i, at)
}

// inlineFrom is InlineView of the n bytes at o in payload. Where 12 bytes can be
// read it loads and masks them, which is faster than to look at the length.
func inlineFrom(payload []byte, o, n int) StringView16 {
	if o+MaxInline > len(payload) {
		v, _ := InlineView(payload[o : o+n])
		return v
	}
	p := payload[o : o+MaxInline]
	m := &inlineMasks[n]
	return StringView16{
		lo: uint64(n) | uint64(binary.LittleEndian.Uint32(p))<<32&m.lo,
		hi: binary.LittleEndian.Uint64(p[4:]) & m.hi,
	}
}

// inlineMasks are, for each length of an inline string, the bits of the view's words
// that hold its bytes.
var inlineMasks = func() (masks [MaxInline + 1]StringView16) {
	for n := range masks {
		masks[n], _ = InlineView(bytes.Repeat([]byte{0xff}, n))
		masks[n].lo &^= math.MaxUint32
	}
	return masks
}()

// FromViews returns the column of views into buffers, neither of which is copied
// or may change any more. Buffers that are borrowed are retained. A null row must
// have the zero view. It takes O(N) time, and the check for UTF-8 time linear in
// the memory, also where rows share bytes.
//
// The errors are those of [Column.Validate] and, unless [WithRawBytes] is given,
// of [Column.ValidateUTF8]; [ErrLengthMismatch] when the validity is too short;
// [ErrTooManyRows]. [WithMaxBuffer] bounds the buffers; [WithRelease] frees views
// and validity.
func FromViews(views []StringView16, buffers []*Buffer, opts ...OffsetsOption) (*Column, error) {
	cfg := newOffsetsConfig(opts)
	nulls, err := cfg.nulls(len(views))
	if err != nil {
		return nil, err
	}
	// Checked before claims are taken, so that a failure has none to give back.
	c := &Column{views: views, buffers: buffers, nulls: nulls}
	if nulls > 0 {
		c.valid = cfg.valid
	}
	if err := c.validate(cfg.limit, !cfg.raw); err != nil {
		return nil, err
	}
	var extra []*Buffer
	if cfg.release != nil {
		extra = append(extra, NewBuffer(nil, cfg.release))
	}
	c = newColumn(views, buffers, cfg.valid, nulls, extra...)
	for _, b := range extra {
		b.Release()
	}
	return c, nil
}
