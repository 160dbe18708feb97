package text

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/rosaline-go/rosaline/cpu"
)

// Repairs is a set of repairs of Unicode, each a switch of its own. Repairing twice is
// repairing once, for every set. A text that is not UTF-8 stays as it is.
type Repairs uint8

// The repairs, in the order they are listed. None touches full-width forms or
// ligatures but the two that are named for them.
const (
	// RepairMojibake undoes UTF-8 that was read as Windows-1252 or Latin-1, any
	// number of times over: "cafÃ©" and "cafÃƒÂ©" become "café". Characters that were read
	// as C1 controls become those of Windows-1252. See [mojibake] for what is
	// taken for a mistake.
	RepairMojibake Repairs = 1 << iota
	// RepairControl removes control characters other than white space: U+0000–0008,
	// 000E–001F, 007F–0084, 0086–009F.
	RepairControl
	// RepairZeroWidth removes U+00AD, 180E, 200B, 2060–2064, FEFF, and the joiners
	// U+200C and 200D where they join nothing: beside ASCII or white space, or at
	// an end of the text.
	RepairZeroWidth
	// RepairNFC composes characters: Unicode Normalization Form C. It is not free of
	// loss: a few compatibility ideographs become the unified ones (U+FA67 is U+9038). A
	// letter with more than 30 marks gets U+034F among them, as the Stream-Safe Text
	// Process of Unicode Standard Annex 15 has it.
	RepairNFC
	// RepairWidth makes full-width ASCII forms (U+FF01–FF5E) and the ideographic
	// space (U+3000) what they are forms of.
	RepairWidth
	// RepairLigatures spells out the Latin ligatures U+FB00–FB06, 0132, 0133, 01C4–01CC
	// and 01F1–01F3.
	RepairLigatures
	repairEnd
)

var repairNames = [...]string{"mojibake", "control", "zero-width", "nfc", "width", "ligatures"}

// ParseRepairs reads a comma-separated list of names, "all" or "none". A name that is
// unknown or comes twice is an error that wraps [ErrOption].
func ParseRepairs(list string) (Repairs, error) {
	switch list {
	case "none":
		return 0, nil
	case "all":
		return repairEnd - 1, nil
	}
	places, err := parseNames(list, "repair", repairNames[:], uint8(0), "all", "none")
	var set Repairs
	for _, p := range places {
		set |= 1 << p
	}
	return set, err
}

// String returns the names as [ParseRepairs] reads them.
func (set Repairs) String() string {
	if set == 0 {
		return "none"
	}
	var names []string
	for i, name := range repairNames {
		if set&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ",")
}

// Needed reports whether repairing s may change it. Where it says no, that is certain;
// it takes a fraction of the time of a repair. O(len(s)).
func (set Repairs) Needed(s []byte) bool {
	suspects := wideBytes
	if set&RepairControl != 0 {
		suspects = suspectBytes
	}
	first := cpu.IndexAny(s, suspects)
	if first == len(s) {
		return false
	}
	if set&RepairControl != 0 && (s[first] < utf8.RuneSelf || cpu.IndexAny(s[first:], controlBytes) < len(s)-first) {
		return true
	}
	if set&RepairMojibake != 0 && (hasLead(s) || hasC1(s)) {
		return true
	}
	unsure := false // whether s is in Normalization Form C
	for i := first; i < len(s); {
		r, n := utf8.DecodeRune(s[i:])
		i = nextWide(s, i+n)
		if r >= 0xa0 && r < 0x132 && r != 0xad {
			continue // what no repair but that of mojibake touches
		}
		if set.maps(r) {
			return true
		}
		unsure = unsure || !beginsNFC(r) && !(r == utf8.RuneError && n == 1)
	}
	return unsure && set&RepairNFC != 0 && !norm.NFC.IsNormal(s)
}

// nextWide returns the place of the first byte of s above 7F from byte i on, len(s) if
// there is none.
func nextWide(s []byte, i int) int {
	const upper = 0x8080808080808080
	for ; len(s)-i >= 8; i += 8 {
		if wide := binary.LittleEndian.Uint64(s[i:]) & upper; wide != 0 {
			return i + bits.TrailingZeros64(wide)/8
		}
	}
	for i < len(s) && s[i] < utf8.RuneSelf {
		i++
	}
	return i
}

// isNFC reports whether s is in Normalization Form C. Most texts hold only characters
// that are so beside any other, which is soon found out.
func isNFC(s []byte) bool {
	for i := nextWide(s, 0); i < len(s); {
		r, n := utf8.DecodeRune(s[i:])
		if !beginsNFC(r) && !(r == utf8.RuneError && n == 1) {
			return norm.NFC.IsNormal(s)
		}
		i = nextWide(s, i+n)
	}
	return true
}

// beginsNFC reports whether r is one of the characters that stay themselves in
// Normalization Form C whatever is before them. It knows the usual ones.
func beginsNFC(r rune) bool {
	return r < firstMark || r >= 0x400 && r < 0x483 || r >= 0x2010 && r < 0x2027 || r >= 0x3041 && r < 0x3097 ||
		r >= 0x30a1 && r < 0x30fb || r >= 0x3001 && r < 0x3012 || r >= 0x4e00 && r < 0xa000 || r >= 0xac00 && r < 0xd7a4
}

// The bytes that a repair may begin at: those above 7F, and those of controls.
var wideBytes, controlBytes, suspectBytes = func() (wide, control, suspect *cpu.ByteSet) {
	var w, c []byte
	for b := range 256 {
		switch {
		case b >= utf8.RuneSelf:
			w = append(w, byte(b))
		case b < ' ' && !spaceBytes.Contains(byte(b)), b == 0x7f:
			c = append(c, byte(b))
		}
	}
	return cpu.NewByteSet(w...), cpu.NewByteSet(c...), cpu.NewByteSet(append(c, w...)...)
}()

// hasLead reports whether s has a lead of mojibake right before a continuation: what
// may stand between them in other texts are characters that other repairs remove.
func hasLead(s []byte) bool {
	for {
		i := bytes.IndexByte(s, 0xc3) // as all leads begin
		if i < 0 || i+2 >= len(s) {
			return false
		}
		if s[i+2] >= utf8.RuneSelf {
			lead, _ := utf8.DecodeRune(s[i:])
			next, _ := utf8.DecodeRune(s[i+2:])
			if isLead(lead) && continuation(next) != 0 {
				return true
			}
		}
		s = s[i+1:]
	}
}

// hasC1 reports whether s has the bytes of a C1 control.
func hasC1(s []byte) bool {
	for {
		i := bytes.IndexByte(s, 0xc2)
		if i < 0 || i+1 == len(s) {
			return false
		}
		if s[i+1] < 0xa0 {
			return true
		}
		s = s[i+1:]
	}
}

// maps reports whether one of the repairs other than mojibake and NFC may remove or
// replace r by itself.
func (set Repairs) maps(r rune) bool {
	return set.drops(r) || set&RepairZeroWidth != 0 && isJoiner(r) ||
		set&RepairWidth != 0 && narrow(r) != r || set&RepairLigatures != 0 && ligature(r) != ""
}

// Append appends s, repaired, to dst and returns the extended slice. dst must not
// overlap s. O(len(s)), whatever s holds.
func (set Repairs) Append(dst, s []byte) []byte {
	if !cpu.ValidUTF8(s) {
		return append(dst, s...)
	}
	if set&RepairNFC != 0 && !isNFC(s) {
		s = norm.NFC.Bytes(s)
	}
	p := repairer{set: set, out: dst, base: len(dst), decoded: -1}
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRune(s[i:])
		p.put(r)
		i += n
	}
	p.settle(0)
	dst = p.out
	if set&RepairNFC != 0 {
		// What was removed or decoded may have brought marks to other letters.
		if tail := dst[p.base:]; !isNFC(tail) {
			dst = append(dst[:p.base], norm.NFC.Bytes(tail)...)
		}
	}
	return dst
}

// repairer builds a repaired text. Its output never holds anything that the set would
// change: each character is looked at together with those that end the output, and
// what becomes of it is looked at again. Every such step makes the output shorter by
// a character at least, so that the time is linear.
type repairer struct {
	set     Repairs
	out     []byte
	base    int  // where the text begins in out
	left    rune // the last character of out; 0 at its begin
	decoded int  // where the last character that was decoded ends, if it is still there

	// Characters that came of others and are still to be added, the next one last. They
	// are a list and no calls: a text may let each of its characters come of the one before.
	pending []rune
}

// endOfDecoded stands among pending behind a character that was decoded and all that
// comes of it.
const endOfDecoded = rune(-1)

// put adds a character of the input and all that comes of it.
func (p *repairer) put(r rune) {
	p.replace(r)
	for n := len(p.pending) - 1; n >= 0; n = len(p.pending) - 1 {
		r, p.pending = p.pending[n], p.pending[:n]
		if r == endOfDecoded {
			p.decoded = len(p.out)
		} else {
			p.replace(r)
		}
	}
}

// replace adds what the repairs of single characters make of r.
func (p *repairer) replace(r rune) {
	if p.set&RepairMojibake != 0 && r >= 0x80 && r < 0xa0 {
		r = windows1252[r-0x80]
	}
	if p.set&RepairLigatures != 0 {
		if letters := ligature(r); letters != "" {
			p.next([]rune(letters))
			return
		}
	}
	if p.set&RepairWidth != 0 {
		r = narrow(r)
	}
	p.add(r)
}

// next lets characters come before all others that are pending.
func (p *repairer) next(chars []rune) {
	slices.Reverse(chars)
	p.pending = append(p.pending, chars...)
}

// add adds a character that stays itself.
func (p *repairer) add(r rune) {
	drops := p.set.drops(r)
	waits := drops && p.set&RepairMojibake != 0 && continuation(r) != 0
	if drops && !waits {
		return
	}
	p.settle(r)
	switch {
	case p.set&RepairZeroWidth != 0 && isJoiner(r) && !joins(p.left):
		return
	case waits && !isLead(p.left) && continuation(p.left) == 0:
		return
	case p.set&RepairNFC != 0 && isMark(r) && p.compose(r):
		return
	}
	p.out = utf8.AppendRune(p.out, r)
	p.left = r
	if p.set&RepairMojibake != 0 && continuation(r) != 0 {
		p.decode()
	}
}

// settle removes what ends the output and stays only for what follows: joiners in front
// of what they do not join, controls that do not become part of a character. 0 stands
// for the end of the text.
func (p *repairer) settle(next rune) {
	for len(p.out) > p.base && (p.set&RepairZeroWidth != 0 && isJoiner(p.left) && !joins(next) ||
		p.set.drops(p.left) && continuation(next) == 0) {
		p.cut(utf8.RuneLen(p.left))
	}
}

// cut takes n bytes off the output.
func (p *repairer) cut(n int) {
	p.out = p.out[:len(p.out)-n]
	p.left = 0
	if len(p.out) > p.base {
		p.left, _ = utf8.DecodeLastRune(p.out[p.base:])
	}
	if p.decoded > len(p.out) {
		p.decoded = -1
	}
}

const firstMark, lastMark = 0x300, 0x36f

// isMark reports whether r is one of the marks that compose with letters of ASCII, to
// letters that mojibake is made of.
func isMark(r rune) bool { return r >= firstMark && r <= lastMark }

// maxLetterMarks is how many marks of one letter are looked at together.
const maxLetterMarks = 30

// compose adds the mark r to the ASCII letter that it belongs to, if that makes
// another letter of it or brings its marks into another order.
func (p *repairer) compose(r rune) bool {
	if p.left >= utf8.RuneSelf && !isMark(p.left) {
		return false
	}
	n := 0
	for c, marks := p.left, 0; isMark(c); marks++ {
		n += utf8.RuneLen(c)
		if n == len(p.out)-p.base || marks == maxLetterMarks {
			return false
		}
		c, _ = utf8.DecodeLastRune(p.out[p.base : len(p.out)-n])
	}
	if n++; n > len(p.out)-p.base || p.out[len(p.out)-n] >= utf8.RuneSelf {
		return false
	}
	cluster := utf8.AppendRune(bytes.Clone(p.out[len(p.out)-n:]), r)
	if norm.NFC.IsNormal(cluster) {
		return false
	}
	p.cut(n)
	p.next([]rune(string(norm.NFC.Bytes(cluster))))
	return true
}

// drops reports whether the set removes r wherever it stands.
func (set Repairs) drops(r rune) bool {
	switch {
	case r < ' ':
		return set&RepairControl != 0 && !spaceBytes.Contains(byte(r))
	case r < 0x7f:
		return false
	case r < 0xa0:
		return set&RepairControl != 0 && r != 0x85
	case r == 0xad, r == 0x180e, r == 0x200b, r == 0xfeff, r >= 0x2060 && r <= 0x2064:
		return set&RepairZeroWidth != 0
	}
	return false
}

// isJoiner reports whether r is the zero width joiner or non-joiner, which scripts
// of India and Persia and emoji are spelled with.
func isJoiner(r rune) bool { return r == 0x200c || r == 0x200d }

// joins reports whether a joiner may stand beside r.
func joins(r rune) bool { return r >= utf8.RuneSelf && !isSpace(r) }

// narrow returns what r is the full-width form of, else r.
func narrow(r rune) rune {
	switch {
	case r >= 0xff01 && r <= 0xff5e:
		return r - 0xff01 + '!'
	case r == 0x3000:
		return ' '
	}
	return r
}

// ligature returns the letters of a Latin ligature, "" if r is none.
func ligature(r rune) string {
	if r < 0x132 || r > 0x1f3 && r < 0xfb00 || r > 0xfb06 {
		return ""
	}
	return ligatures[r]
}

var ligatures = map[rune]string{
	'Ĳ': "IJ", 'ĳ': "ij",
	'Ǆ': "DŽ", 'ǅ': "Dž", 'ǆ': "dž", 'Ǉ': "LJ", 'ǈ': "Lj", 'ǉ': "lj", 'Ǌ': "NJ", 'ǋ': "Nj", 'ǌ': "nj",
	'Ǳ': "DZ", 'ǲ': "Dz", 'ǳ': "dz",
	'ﬀ': "ff", 'ﬁ': "fi", 'ﬂ': "fl", 'ﬃ': "ffi", 'ﬄ': "ffl", 'ﬅ': "st", 'ﬆ': "st",
}

// isWritten reports whether r is something that texts are written with: a character
// that is shown, or one that changes how others are.
func isWritten(r rune) bool { return unicode.IsGraphic(r) || unicode.Is(unicode.Cf, r) }
