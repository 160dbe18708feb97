package text

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// wordsOf cuts s where the list says that its words end; white space is left out.
func wordsOf(s string, rule Words) (out []string) {
	var l wordList
	l.fill([]byte(s), rule)
	rest := []rune(s)
	for i := range l.hash() {
		for len(rest) > 0 && (unicode.IsSpace(rest[0]) || rest[0] == zeroWidthSpace) {
			rest = rest[1:]
		}
		n := l.gramChars(i, 1)
		out = append(out, string(rest[:n]))
		rest = rest[n:]
	}
	return out
}

func TestWordsByScript(t *testing.T) {
	for _, want := range []string{ // | between words, and a space where there is one
		"the| cat", "it|'s| a| dog|,| isn|'t| it|?", "l|’été| n|’est| pas| fini",
		"3.14| and| 1,000| at| 10:30| on| 1/2", "example.org|,| file.tar.gz|.", "end|.|Next", "e.g.| J.| Smith|,| U.S.| law",
		"well|-|known| COVID-19| pre-| -v| --all| 10|-|20| a|--|b", "/etc|/|hosts| and|/|or| ftp/", "foo_bar| __init__",
		"wait|...| what|?|!|?|!", "-----| =|=|=", "#|1| 50|%| $|5| a|@|b", "(|see| [|12|]|)", "“|so|”|,| he| said|—|no",
		"日本|語|の|文章|です|。", "コンピューター|の|使|い|方", "らーめ|ん", "人々|がい|た", "Linux|は|自由| です",
		"中文|文本|，|没有|空格|。", "ｶﾞｷﾞｸﾞ", "二〇|二|4|年",
		"ภาษาไท|ย", "น้ำตาล", "มนุษ|ย์ทั้ง|หลาย", "ມະນຸດ", "ខ្មែរ", "မြန်|မာ",
		"नमस्ते| दुनिया|।", "안녕하세요| 세계", "e\u0301te\u0301", "👍|👍| ok",
	} {
		text := strings.ReplaceAll(want, "|", "")
		var words []string
		for w := range strings.SplitSeq(want, "|") {
			words = append(words, strings.TrimSpace(w))
		}
		require.Equal(t, words, wordsOf(text, WordsByScript), "%s", text)
	}
	require.Equal(t, []string{"a", "b"}, wordsOf("a\u200bb", WordsByScript))
	require.Equal(t, []string{"\ufffd", "\ufffd", "a"}, wordsOf("\x80\x80a", WordsByScript))
}

// TestWordsBySpaceLikeFields divides by the standard library.
func TestWordsBySpaceLikeFields(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOf(rapid.SampledFrom([]rune("ab.'-/ \n\t\u3000\u200b日語กข്é\u00a0"))).Draw(t, "text")
		if got := wordsOf(strings.ReplaceAll(s, "\u200b", "z"), WordsBySpace); !slices.Equal(got, strings.Fields(strings.ReplaceAll(s, "\u200b", "z"))) {
			require.Equal(t, strings.Fields(s), got)
		}
		words, longest := kinds().spacedWords([]byte(s), WordsBySpace, 1<<30)
		fields := strings.Fields(s)
		require.Equal(t, len(fields), words)
		want := 0
		for _, f := range fields {
			want = max(want, utf8.RuneCountInString(f))
		}
		require.Equal(t, want, longest)
		more, _ := kinds().spacedWords([]byte(s), WordsByScript, 1<<30)
		require.GreaterOrEqual(t, more, words)
	})
}

// TestWordsCoverText finds each code point that is not white space in one word, in order,
// whatever the text.
func TestWordsCoverText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.SampledFrom([]rune("aA1._-/,:'’ \n日本かカーก็เ្ក្ក်မ")))).Draw(t, "text")
		squeezed := strings.Map(func(r rune) rune {
			if unicode.IsSpace(r) || r == zeroWidthSpace {
				return -1
			}
			return r
		}, s)
		require.Equal(t, squeezed, strings.Join(wordsOf(s, WordsByScript), ""))
	})
}

// wordsOneByOne finds the words of a text as WordsByScript has them, one after the other.
func wordsOneByOne(s []byte) *wordList {
	l, t := new(wordList), kinds()
	l.bounds.begin(s)
	clear(l.bounds.words) // of masks it knows nothing
	for i := 0; i < len(s); {
		switch k, size := t.decode(s[i:]); {
		case k&kindSpace != 0:
			i += size
		case k&kindUnspaced != 0:
			to, chars := t.unspacedWord(s, i)
			var all kind
			for _, r := range string(s[i:to]) {
				all |= t.of(r)
			}
			l.add(s, i, to, chars, all)
			i = to
		case k&kindWord != 0:
			i = l.addWord(s, i, i, 0, t)
		case size == 1 && s[i] < utf8.RuneSelf:
			i = l.addOther(s, i, t)
		default:
			l.add(s, i, i+size, 1, k)
			i += size
		}
	}
	l.text = s
	return l
}

// TestWordsByBounds compares the words found by masks with those found one after the
// other.
func TestWordsByBounds(t *testing.T) {
	var l wordList
	stops := []string{"it", "of", "and", "a", "'s", "日本", "an-overlong-word/seventeencharacters", strings.Repeat("x", 70)}
	rapid.Check(t, func(t *rapid.T) {
		ascii := rapid.SampledFrom([]string{
			".", ",", ":", "'", "'", "-", "/", ". ", "..", "--", " ", " ", "\n", "a", "I", "it", "Next", "7", "42", "_", "eightchr", "\x00", "!",
			"of", "'s", "x'y", "1.2", "3,4", "__", "•", "...", "- ", strings.Repeat("x", 70),
			strings.Repeat("words of prose, and so on ", 3), "an-overlong-word/seventeencharacters",
		})
		wide := rapid.SampledFrom([]string{
			"é", "ÉÈ", "д", "дом", "’", "’", "“", "日本", "语言模型", "规则", "か", "\u3099", "ー", "ก", "\u0308", "\u00a0", "\u200b", "\xff", "\xe2\x80", "…", "½", "٣", "‿", "€", "👍", "\U0001D400",
		})
		piece := rapid.OneOf(ascii, ascii, ascii, ascii, wide)
		if rapid.Bool().Draw(t, "wide") {
			piece = rapid.OneOf(ascii, wide)
		}
		s := []byte(strings.Join(rapid.SliceOfN(piece, 1, 120).Draw(t, "text"), ""))
		l.release()
		l.fill(s, WordsByScript)
		byOne := wordsOneByOne(s)
		require.Equal(t, byOne.bounds.starts, l.bounds.starts, "%q", s)
		require.Equal(t, byOne.bounds.ends, l.bounds.ends, "%q", s)
		require.Equal(t, []int{byOne.plain, byOne.plainChars, byOne.alpha, byOne.unspaced}, []int{l.plain, l.plainChars, l.alpha, l.unspaced}, "%q", s)
		require.Equal(t, utf8.RuneCount(s), l.chars, "%q", s)
		require.Equal(t, bytes.Count(s, []byte("…")), l.ellipses, "%q", s)
		require.Equal(t, bytes.Contains(s, []byte("..")), l.bounds.dots, "%q", s)
		found := 0
		words := wordsOf(string(s), WordsByScript)
		for _, w := range stops {
			if slices.Contains(words, w) {
				found++
			}
		}
		require.Equal(t, found, l.stop.count(s, &l.bounds, stops, 100), "%q", s)
		require.Equal(t, min(found, 1), l.stop.count(s, &l.bounds, stops, 1), "%q", s)
		require.Len(t, l.hash(), len(words), "%q", s)
		for i, w := range words {
			if !utf8.Valid(s) {
				break // of these wordsOf has U+FFFD
			}
			require.Equal(t, wordKeys.any([]byte(w)), l.hashes[i], "%q", s)
		}
		if bulleted, elliptic := markedLines(s); !l.bounds.bullets && !l.bounds.dots && l.ellipses == 0 {
			require.Zero(t, bulleted+elliptic, "%q", s)
		}

		for _, rule := range []Words{WordsByScript, WordsBySpace} {
			l.release()
			least := l.atLeast(s)
			l.fill(s, rule)
			require.LessOrEqual(t, least, l.words, "%q", s)
		}
	})
}

// TestScriptAwareBounds looks at texts without spaces, and without words.
func TestScriptAwareBounds(t *testing.T) {
	m := NewMeasurer()
	japanese := []byte(strings.Repeat("日本語の文章です。", 200))
	for preset, want := range map[string]Reason{
		PresetPretraining: ReasonNone,
		PresetGopher:      ReasonGopherMaxTop2Grams, // it is one sentence over and over
		PresetC4:          ReasonNone,
		PresetFineweb:     ReasonNone,
	} {
		require.Equal(t, want, newQuality(t, WithPreset(preset)).Check(m, japanese).Reason, preset)
	}
	require.Equal(t, ReasonMinWords, newQuality(t, WithPreset(PresetPretraining), WithWords(WordsBySpace)).Check(m, japanese).Reason)
	require.Equal(t, ReasonGopherMinWords, newQuality(t, WithPreset(PresetGopher), WithWords(WordsBySpace)).Check(m, japanese).Reason)

	for preset, want := range map[string]Reason{
		PresetPretraining: ReasonMinChars,
		PresetGopher:      ReasonGopherMinWords,
		PresetC4:          ReasonC4MinSentences,
		PresetFineweb:     ReasonFinewebMinPunctuatedLines,
	} {
		for _, s := range []string{"", "   ", "\n\n"} {
			v := newQuality(t, WithPreset(preset)).Check(m, []byte(s))
			require.Equal(t, want, v.Reason, "%s %q", preset, s)
			require.Equal(t, v.Value, max(v.Value, 0), "%s %q", preset, s) // no NaN
		}
	}
	open := GopherBounds{MaxWords: 1, MaxMeanWordLength: 9, MaxHashRatio: 1, MaxEllipsisRatio: 1, MaxBulletLines: 1, MaxEllipsisLines: 1,
		MaxDuplicateParagraphs: 1, MaxDuplicateParagraphChars: 1, MaxDuplicateLines: 1, MaxDuplicateLineChars: 1, MaxTopGrams: [3]float64{2, 2, 2}}
	for _, s := range []string{"", "   ", "!!!"} {
		require.Equal(t, Verdict{}, newQuality(t, WithGopher(open)).Check(m, []byte(s)), "%q", s)
	}
}
