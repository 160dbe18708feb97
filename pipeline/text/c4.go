package text

import (
	"bytes"
	"math"
	"math/bits"
	"unicode"
	"unicode/utf8"

	"github.com/rosaline-go/rosaline/cpu"
)

// C4Bounds are the bounds of the rules of C4: C. Raffel et al., Exploring the Limits of
// Transfer Learning with a Unified Text-to-Text Transformer, JMLR 21 (2020), section
// 2.2, without the list of bad words and with what its program does besides. The zero
// value of each switch is what the paper does; a bound of 0 is off.
type C4Bounds struct {
	MinSentences  int // of the lines that stay
	MinLineWords  int // lines of fewer words are removed
	MaxWordLength int // lines with a longer word, in code points, are removed

	KeepUnpunctuated bool // lines that end otherwise than with . ? ! " ' 。 and their like, or with ...
	KeepJavascript   bool // lines that say javascript
	KeepPolicies     bool // lines that speak of cookies or terms of use
	KeepCitations    bool // [12], [], [edit] and [citation needed]
	KeepLoremIpsum   bool // texts that say lorem ipsum
	KeepCurly        bool // texts that have a {
}

// DefaultC4Bounds returns the bounds of the paper.
func DefaultC4Bounds() C4Bounds {
	return C4Bounds{MinSentences: 5, MinLineWords: 3, MaxWordLength: 1000}
}

// C4Metrics tell what the rules of C4 find. Each line counts once, under the first of
// the rules that removes it.
type C4Metrics struct {
	// Lines is the number of lines, KeptLines of those that stay.
	Lines     int `json:"lines"`
	KeptLines int `json:"kept_lines"`
	// What was removed, in the order of the rules.
	LongWordLines     int `json:"long_word_lines"`
	UnpunctuatedLines int `json:"unpunctuated_lines"`
	ShortLines        int `json:"short_lines"`
	JavascriptLines   int `json:"javascript_lines"`
	PolicyLines       int `json:"policy_lines"`
	// Lines that let the text be dropped.
	LoremIpsumLines int `json:"lorem_ipsum_lines"`
	CurlyLines      int `json:"curly_lines"`
	// Sentences is the number of sentences in the lines that stay.
	Sentences int `json:"sentences"`

	fatal Reason // of the first line that lets the text be dropped
}

// c4Rules are the rules with their bounds.
type c4Rules struct {
	bounds C4Bounds
	words  Words
}

// WithC4 adds the rules of C4, or changes their bounds if they are there. They remove
// lines, and what is left of the text is trimmed and has LF between its lines, so the
// filter must be used by [QualityFilter.Filter] or a [FusedPipeline].
func WithC4(b C4Bounds) QualityOption {
	return func(q *QualityFilter) { q.addRules(&c4Rules{bounds: b}) }
}

func (c *c4Rules) name() string { return PresetC4 }

func (c *c4Rules) ready(w Words) (ruleSet, error) {
	b := &c.bounds
	return &c4Rules{c.bounds, w}, checkBounds(PresetC4, []float64{
		float64(b.MinSentences), float64(b.MinLineWords), float64(b.MaxWordLength)})
}

// apply implements ruleSet.
func (c *c4Rules) apply(m *ruleMemory, s []byte, r room) ([]byte, Verdict) {
	out := c.measure(m, s)
	if v := c.bounds.Judge(&out); !v.Kept() {
		return s, v
	}
	return m.lines.rewritten(s, r), Verdict{}
}

// Judge holds metrics to the bounds.
func (b *C4Bounds) Judge(m *C4Metrics) Verdict {
	if m.fatal != ReasonNone {
		return Verdict{Reason: m.fatal, Value: 1}
	}
	return atLeast(ReasonC4MinSentences, float64(m.Sentences), float64(b.MinSentences))
}

// phrase is what a line may say that lets it go.
type phrase uint8

const (
	phraseLorem phrase = 1 << iota
	phraseJavascript
	phrasePolicy
)

// phraseTexts are the phrases, in lower case.
var phraseTexts = []struct {
	phrase
	text string
}{
	{phraseLorem, "lorem ipsum"},
	{phraseJavascript, "javascript"},
	{phrasePolicy, "terms of use"},
	{phrasePolicy, "privacy policy"},
	{phrasePolicy, "cookie policy"},
	{phrasePolicy, "uses cookies"},
	{phrasePolicy, "use of cookies"},
	{phrasePolicy, "use cookies"},
}

// phraseBytes are the bytes that phrases have in each of their first places, in any
// case of ASCII.
var phraseBytes = func() (sets [4]*cpu.ByteSet) {
	for i := range sets {
		var set []byte
		for _, p := range phraseTexts {
			set = append(set, p.text[i], byte(unicode.ToUpper(rune(p.text[i]))))
		}
		sets[i] = cpu.NewByteSet(set...)
	}
	return sets
}()

// phrases returns which phrases s says in any case of ASCII. O(len(s)).
func (l *lineMemory) phrases(s []byte) (found phrase) {
	for i, set := range phraseBytes {
		l.masks[i].find(s, set)
	}
	for b := range (len(s) + 63) / 64 {
		at := l.masks[0][b]
		for i := 1; i < len(l.masks); i++ {
			at &= l.masks[i][b]>>i | l.masks[i][b+1]<<(64-i)
		}
		for ; at != 0; at &= at - 1 {
			found |= phraseAt(s[b*64+bits.TrailingZeros64(at):])
		}
	}
	return found
}

// phraseAt returns the phrase that s begins with, 0 for none.
func phraseAt(s []byte) phrase {
	for _, p := range phraseTexts {
		if hasPrefixFold(s, p.text) {
			return p.phrase
		}
	}
	return 0
}

// hasPrefixFold reports whether s begins with lower, in any case of ASCII.
func hasPrefixFold(s []byte, lower string) bool {
	if len(s) < len(lower) {
		return false
	}
	for i := range len(lower) {
		c := s[i]
		if c-'A' < 26 {
			c |= 0x20
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// lineMemory is the scratch memory of rules that remove lines.
type lineMemory struct {
	kept  []byte // the lines that stay, LF between them
	masks [len(phraseBytes)]byteMask
}

// keepLineBytes is the length of texts whose scratch is kept.
const keepLineBytes = 4 << 20

// release gives up scratch that only an unusually long text needs.
func (l *lineMemory) release() {
	if cap(l.kept) > keepLineBytes || cap(l.masks[0]) > keepBlocks {
		*l = lineMemory{}
	}
}

// measure returns the metrics and leaves what stays in m.lines.kept. O(len(s)).
func (c *c4Rules) measure(m *ruleMemory, s []byte) (out C4Metrics) {
	l, t := &m.lines, kinds()
	said := l.phrases(s)
	curly := bytes.IndexByte(s, '{') >= 0
	l.kept = l.kept[:0]
	for cut := cutLines(s); cut.more(); {
		raw := trimSpace(cut.next())
		before := len(l.kept)
		if before > 0 {
			l.kept = append(l.kept, '\n')
		}
		start := len(l.kept)
		if c.bounds.KeepCitations {
			l.kept = append(l.kept, raw...)
		} else {
			l.kept = appendUncited(l.kept, raw)
		}
		line := l.kept[start:]
		says := said
		if says != 0 || len(line) < len(raw) {
			says = l.phrases(line)
		}
		if !c.keeps(&out, t, raw, line, says, curly) {
			l.kept = l.kept[:before]
			continue
		}
		out.KeptLines++
		if len(line) > 0 { // bounds may keep lines of nothing
			out.Sentences += sentences(line, t)
		}
	}
	return out
}

// keeps counts a line, raw as it was and then without citations, and reports whether
// it stays.
func (c *c4Rules) keeps(out *C4Metrics, t *kindTable, raw, line []byte, says phrase, curly bool) bool {
	b := &c.bounds
	out.Lines++
	limit := b.MinLineWords
	long := b.MaxWordLength > 0 && len(raw) > b.MaxWordLength
	if long {
		limit = math.MaxInt
	}
	words, longest := t.spacedWords(raw, c.words, limit)
	switch {
	case long && longest > b.MaxWordLength:
		out.LongWordLines++
	case !b.KeepUnpunctuated && !endsSentence(line, t):
		out.UnpunctuatedLines++
	case words < b.MinLineWords:
		out.ShortLines++
	case !b.KeepLoremIpsum && says&phraseLorem != 0:
		out.LoremIpsumLines++
		out.fail(ReasonC4LoremIpsum)
	case !b.KeepJavascript && says&phraseJavascript != 0:
		out.JavascriptLines++
	case !b.KeepCurly && curly && bytes.IndexByte(line, '{') >= 0:
		out.CurlyLines++
		out.fail(ReasonC4CurlyBracket)
	case !b.KeepPolicies && says&phrasePolicy != 0:
		out.PolicyLines++
	default:
		return true
	}
	return false
}

// fail notes the first reason to drop the text.
func (m *C4Metrics) fail(r Reason) {
	if m.fatal == ReasonNone {
		m.fatal = r
	}
}

// rewritten returns what is left of s: s itself if all of it is.
func (l *lineMemory) rewritten(s []byte, r room) []byte {
	kept := trimSpace(l.kept)
	if bytes.Equal(kept, s) {
		return s
	}
	out := r.alloc(len(kept))
	copy(out, kept)
	return out
}

// endsSentence reports whether a line ends with . ? ! " ' or another code point of the
// property Sentence_Terminal, and not with three dots.
func endsSentence(line []byte, t *kindTable) bool {
	if len(line) == 0 || bytes.HasSuffix(line, []byte("...")) {
		return false
	}
	last := line[len(line)-1]
	k, _ := t.decodeLast(line)
	return k&kindTerminal != 0 || last == '"' || last == '\''
}

// sentences counts the sentences of a line that is not empty. One ends where a code
// point of Sentence_Terminal, punctuation behind it included, is followed by anything
// else. A dot does not end one within a word, behind a single letter (J. Smith, e.g.
// this) or in a row of dots.
func sentences(line []byte, t *kindTable) int {
	n, ended := 1, false
	for i := 0; i < len(line); {
		if !ended {
			// Nothing else can end one.
			if i += cpu.IndexAny(line[i:], maybeTerminal); i == len(line) {
				break
			}
		}
		k, size := t.decode(line[i:])
		if line[i] != '.' {
			ended = ended || k&kindTerminal != 0
		} else if last, letters := t.wordBefore(line[:i]); t.joins(line[i:], last, letters) {
			i++
			continue
		} else if !(i+1 < len(line) && line[i+1] == '.' || i > 0 && line[i-1] == '.') {
			ended = true
		}
		if ended && (k&kindWord != 0 || k&(kindSpace|kindPunct) == 0) {
			n++
			ended = false
		}
		i += size
	}
	return n
}

// maybeTerminal has the first bytes of what ends sentences.
var maybeTerminal = func() *cpu.ByteSet {
	set := []byte{'.', '!', '?'}
	for c := utf8.RuneSelf; c < 1<<8; c++ {
		set = append(set, byte(c))
	}
	return cpu.NewByteSet(set...)
}()

// wordBefore returns the kind of the code point of words that s ends with, and how many
// there are in a row, from 2 on not exactly.
func (t *kindTable) wordBefore(s []byte) (last kind, letters int) {
	for letters < 2 && len(s) > 0 {
		k, size := t.decodeLast(s)
		if k&kindWord == 0 {
			break
		}
		if letters == 0 {
			last = k
		}
		letters++
		s = s[:len(s)-size]
	}
	return last, letters
}

// appendUncited appends a line without citations: [12], [], [edit], [citation needed].
func appendUncited(dst, line []byte) []byte {
	for {
		at := bytes.IndexByte(line, '[')
		if at < 0 {
			return append(dst, line...)
		}
		dst = append(dst, line[:at]...)
		line = line[at:]
		n := citation(line)
		if n == 0 {
			n = 1
			dst = append(dst, '[')
		}
		line = line[n:]
	}
}

// citation returns the length of the citation that s begins with, 0 if it is none.
func citation(s []byte) int {
	for _, c := range []string{"[edit]", "[citation needed]"} {
		if len(s) >= len(c) && string(s[:len(c)]) == c {
			return len(c)
		}
	}
	for i := 1; i < len(s); {
		r, size := utf8.DecodeRune(s[i:])
		switch {
		case r == ']':
			return i + 1
		case !unicode.IsDigit(r):
			return 0
		}
		i += size
	}
	return 0
}
