package text

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// # What is taken for mojibake
//
// A character of two to four bytes that was read as Windows-1252 is a run of as many
// characters: a lead (Â to ô, bytes C2 to F4) and continuations (those of bytes 80 to
// BF, which are symbols and a few letters). Nobody writes most of these runs. Some
// may be written on purpose, since a letter may well be followed by what ends a
// quotation or a sentence: German Spaß“, French café…”. So a run in which all
// continuations are such characters (followsLetters) is decoded only beside one that is
// decoded too, unless its lead is a capital that follows none: few words end so. Runs that would decode to something that is not a written
// character are left alone.

// windows1252 has the characters of bytes 80 to 9F. Five bytes have none: they are
// C1 controls in what programs make of them.
var windows1252 = [32]rune{
	0x20ac, 0x81, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8d, 0x017d, 0x8f,
	0x90, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0x9d, 0x017e, 0x0178,
}

var windows1252Bytes = func() map[rune]byte {
	m := make(map[rune]byte, len(windows1252))
	for i, r := range windows1252 {
		m[r] = byte(0x80 + i)
	}
	return m
}()

// continuation returns the byte 80 to BF that r is read for, 0 if there is none.
func continuation(r rune) byte {
	switch {
	case r < 0x80 || r > 0x2122:
		return 0
	case r < 0xc0:
		return byte(r)
	case r < 0x152:
		return 0
	}
	return windows1252Bytes[r]
}

// followsLetters reports whether r, a continuation, is often written right after
// a letter.
func followsLetters(r rune) bool {
	switch r {
	case '“', '”', '’', '…', '–', '—', '™', '›', '»', '·', '°', 'º', 'ª', '¹', '²', '³', '®', 0xa0:
		return true
	}
	return false
}

// decode replaces the run that ends the output, if it is mojibake, by its character, and
// goes on with that.
func (p *repairer) decode() {
	r, n, doubtful := p.run()
	if n == 0 || doubtful && p.decoded != len(p.out)-n {
		return
	}
	p.cut(n)
	p.nextDecoded(r)
	// Runs in doubt before it are decoded for its company.
	for {
		before, n, doubtful := p.run()
		if n == 0 || !doubtful {
			return
		}
		p.cut(n)
		p.nextDecoded(before)
	}
}

// nextDecoded lets a character that was decoded come before all others that are pending.
func (p *repairer) nextDecoded(r rune) {
	if n := len(p.pending); n == 0 || p.pending[n-1] != endOfDecoded {
		p.pending = append(p.pending, endOfDecoded)
	}
	p.pending = append(p.pending, r)
}

// isLead reports whether r is what the first byte of a longer character is read for.
func isLead(r rune) bool { return r >= 0xc2 && r <= 0xf4 }

// run looks at the run that ends the output: the character it stands for and its length
// in bytes, 0 if it stands for none. doubtful says that it may be meant as it is.
func (p *repairer) run() (r rune, size int, doubtful bool) {
	out := p.out[p.base:]
	var b [utf8.UTFMax]byte
	doubtful = true
	for i := len(b) - 1; i >= 0 && size < len(out); i-- {
		c, n := utf8.DecodeLastRune(out[:len(out)-size])
		size += n
		if x := continuation(c); x != 0 {
			doubtful = doubtful && followsLetters(c)
			b[i] = x
			continue
		}
		if !isLead(c) || i == len(b)-1 {
			return 0, 0, false
		}
		b[i] = byte(c)
		r, n = utf8.DecodeRune(b[i:])
		if n != len(b)-i || n == 1 || !p.decodesTo(r) {
			return 0, 0, false
		}
		if doubtful && unicode.IsUpper(c) {
			left, _ := utf8.DecodeLastRune(out[:len(out)-size])
			doubtful = unicode.IsUpper(left)
		}
		return r, size, doubtful
	}
	return 0, 0, false
}

// decodesTo reports whether mojibake may stand for r. Marks that compose with ASCII
// letters, and what normalisation would replace, are refused when the text is
// normalised: the result must not depend on what comes first.
func (p *repairer) decodesTo(r rune) bool {
	if r < 0xa0 {
		// A control stands for itself where no character was there to misread.
		return r >= 0x80 && windows1252[r-0x80] == r
	}
	if !isWritten(r) {
		return false
	}
	if p.set&RepairNFC == 0 {
		return true
	}
	var b [utf8.UTFMax]byte
	return !isMark(r) && norm.NFC.IsNormal(utf8.AppendRune(b[:0], r))
}
