package text

import (
	"bytes"
	"fmt"
	"runtime/debug"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"github.com/rosaline-go/rosaline/internal/lineartime"
)

func repaired(set Repairs, s string) string { return string(set.Append(nil, []byte(s))) }

// misread returns s as Windows-1252 makes it of its UTF-8, with the C1 controls for
// the five bytes that have no character there.
func misread(s string) string {
	var b strings.Builder
	for i := range len(s) {
		switch r := charmap.Windows1252.DecodeByte(s[i]); r {
		case utf8.RuneError:
			b.WriteRune(rune(s[i]))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// misreadLatin1 is the same with Latin-1.
func misreadLatin1(s string) string {
	var b strings.Builder
	for i := range len(s) {
		b.WriteRune(rune(s[i]))
	}
	return b.String()
}

func TestRepairs(t *testing.T) {
	for _, c := range []struct {
		set      string
		in, want string
	}{
		{"mojibake", "cafÃ©", "café"},
		{"mojibake", "cafÃƒÂ©", "café"},
		{"mojibake", "Itâ€™s â€œquotedâ€\u009d", "It’s “quoted”"},
		{"mojibake", "It\u0092s", "It’s"},
		{"mojibake", "Âµ Â© Â£5", "µ © £5"},
		{"mojibake", "ðŸ˜€!", "😀!"},
		{"mojibake", "Ð”Ð¾Ð±Ñ€Ð¾", "Добро"}, // a run in doubt beside one that is not
		{"mojibake", "„Spaß“ café…” SÃO “IRMÔ CAFÉ™", "„Spaß“ café…” SÃO “IRMÔ CAFÉ™"},
		{"mojibake", "à la carte, Ä, Ö, Ü, 3×²", "à la carte, Ä, Ö, Ü, 3×²"},
		{"mojibake", "a\x00b\u200bc，ﬁ", "a\x00b\u200bc，ﬁ"},
		{"mojibake", "Ã", "Ã"},
		{"mojibake", "Ã\xff Ã©", "Ã\xff Ã©"},
		{"control", "a\x00b\x1bc\x7fd\u0080e\t\r\n\v\f\u0085", "abcde\t\r\n\v\f\u0085"},
		{"control", "Ã© \u200b，", "Ã© \u200b，"},
		{"zero-width", "\ufeffa\u200bb\u00adc\u2060d\u2064", "abcd"},
		{"zero-width", "می\u200cخواهم", "می\u200cخواهم"}, // the joiner is spelling
		{"zero-width", "👩\u200d👧 a\u200db \u200cم م\u200c", "👩\u200d👧 ab م م"},
		{"zero-width", "\x00Ã©", "\x00Ã©"},
		{"nfc", "e\u0301 u\u0308 \ufa67", "é ü 逸"},
		{"nfc", "，。１ﬁ", "，。１ﬁ"},
		{"width", "，。１Ａ\u3000", ",。1A "},
		{"ligatures", "ﬁ ﬃ ĳ", "fi ffi ij"},
		{"ligatures", "，", "，"},
		{"nfc,zero-width", "e\u200b\u0301", "é"},
		{"mojibake,zero-width", "aâ€‹b", "ab"},
		{"mojibake,control", "Ã\u0081Ã\u0081 x\u0081y", "ÁÁ xy"},
		{"mojibake,nfc", "A\u0303©", "é"},
		{"mojibake,nfc,zero-width", "A\u200b\u0303©", "é"},
		{"all", "", ""},
		{"none", "Ã©\x00", "Ã©\x00"},
	} {
		set, err := ParseRepairs(c.set)
		require.NoError(t, err)
		require.Equal(t, c.want, repaired(set, c.in), "%s of %q", c.set, c.in)
		require.True(t, c.in == c.want || set.Needed([]byte(c.in)), "%s of %q", c.set, c.in)
	}
}

func TestRepairsAreNamed(t *testing.T) {
	for set := range repairEnd {
		got, err := ParseRepairs(set.String())
		require.NoError(t, err)
		require.Equal(t, set, got)
	}
	all, err := ParseRepairs("all")
	require.NoError(t, err)
	require.Equal(t, repairEnd-1, all)
	for _, bad := range []string{"", "nfd", "nfc,nfc", "nfc,"} {
		_, err := ParseRepairs(bad)
		require.ErrorIs(t, err, ErrOption, bad)
	}
}

// phrases are read by people; what is done to them below must be undone.
var phrases = []string{
	"Das Mädchen aß süße Äpfel – „wirklich?“", "L’été dernier, à la forêt… où ça ?", "El niño soñó con cigüeñas",
	"São João não é só coração", "Zażółć gęślą jaźń", "Příliš žluťoučký kůň", "Добро пожаловать домой", "Καλημέρα κόσμε",
	"日本語の文章です。", "안녕하세요 세계", "مرحبا بالعالم", "שלום עולם", "हिन्दी में लिखा हुआ", "Tiếng Việt có dấu", "naïve café £5 ½ ° µ",
	"😀 emoji 👍🏽 and “quotes”—dashes", "Þegar ég fór á fjall",
}

func TestMojibakeIsUndone(t *testing.T) {
	for _, p := range phrases {
		require.Equal(t, p, repaired(RepairMojibake, p), "as it is")
		broken := p
		for depth := 1; depth <= 2; depth++ {
			broken = misread(broken)
			require.Equal(t, p, repaired(RepairMojibake, broken), "misread %d times: %q", depth, broken)
		}
		require.Equal(t, p, repaired(RepairMojibake, misreadLatin1(p)), "misread as Latin-1")
		// The right part of a text says nothing about the broken one.
		require.Equal(t, p+" 日本 "+p, repaired(RepairMojibake, misread(p)+" 日本 "+p))
	}
}

// nasty are characters and runs that the repairs have to do with each other over.
var nasty = []string{
	"a", "A", "I", "S", "Y", " ", "\n", "é", "Ã", "Â", "â", "ð", "ß", "Å", "Ì", "©", "”", "“", "€", "™", "š", "…", "ƒ", "‹", "Ÿ", "¡", "\u00a0", "\u00ad",
	"\u0301", "\u0303", "\u030c", "\u0315", "\u0323", "\u0308", "\u093c", "\u0653", "\u1100", "\u1161", "\u11a8", "\u212b", "\u037e", "\ufa67",
	"\u200b", "\u200c", "\u200d", "\ufeff", "\u2060", "\x00", "\x7f", "\u0080", "\u0081", "\u0085", "\u008d", "\u0092", "\u009d", "\xff", "\xe2\x80",
	"ﬁ", "，", "Ａ", "\u3000", "日", "م", "👩", misread("é"), misread("\u200b"), misread("\u0303"), misread("’"), misread(misread("ü")), misread("\u212b"), misread("日"),
}

func TestRepairingTwiceIsRepairingOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(rapid.SampledFrom(nasty), 0, 12).Draw(t, "text"), "")
		some := Repairs(rapid.IntRange(0, int(repairEnd)-1).Draw(t, "set"))
		for _, set := range []Repairs{some, some | RepairMojibake, RepairNFC, repairEnd - 1} {
			once := repaired(set, s)
			if twice := repaired(set, once); once != twice {
				t.Fatalf("%s of %q: %q, then %q", set, s, once, twice)
			}
			if !set.Needed([]byte(s)) && once != s {
				t.Fatalf("%s of %q: not needed, but gives %q", set, s, once)
			}
			if set&RepairNFC != 0 && utf8.ValidString(s) && !norm.NFC.IsNormalString(once) {
				t.Fatalf("%s of %q: %q is not in NFC", set, s, once)
			}
			if set == RepairNFC && utf8.ValidString(s) && once != norm.NFC.String(s) {
				t.Fatalf("%q: %q, want %q", s, once, norm.NFC.String(s))
			}
		}
	})
}

func TestWhatIsQuicklyNFC(t *testing.T) {
	for r := rune(0x80); r <= 0x1ffff; r++ {
		for _, s := range []string{string(r), "e" + string(r), string(r) + "\u0301", "\u1100" + string(r)} {
			if isNFC([]byte(s)) != norm.NFC.IsNormalString(s) {
				t.Fatalf("%q: %v", s, isNFC([]byte(s)))
			}
		}
	}
}

func FuzzRepair(f *testing.F) {
	for _, s := range nasty {
		f.Add(byte(repairEnd-1), s+nasty[9]+s)
	}
	f.Fuzz(func(t *testing.T, set byte, s string) {
		repairs := Repairs(set) % repairEnd
		once := repaired(repairs, s)
		require.Equal(t, once, repaired(repairs, once))
		if !utf8.ValidString(s) {
			require.Equal(t, s, once)
		}
		require.Equal(t, utf8.ValidString(s), utf8.ValidString(once))
		require.True(t, bytes.HasPrefix(repairs.Append([]byte("Ã"), []byte(s)), []byte("Ã")), "what is there already stays")
	})
}

func TestRepairsTakeLinearTime(t *testing.T) {
	for _, unit := range []string{"Ã", "©", "Ã©", misread("Ã"), "”", "Ð”", "\u200d", "م\u200d", "\u0081", "â\u0081", "a\u0303", "\u0303", "I\u200b\u0300ƒ", "A\u0315\u0303", "é…”"} {
		for _, before := range []string{"", "I"} {
			t.Run(before+unit, func(t *testing.T) {
				lineartime.Require(t, 1<<12/len(unit), func(n int) func() {
					s := before + strings.Repeat(unit, n)
					return func() { repaired(repairEnd-1, s) }
				})
			})
		}
	}
}

// TestChainsOfMojibakeTakeNoStack: each character of the text is decoded with what the
// one behind it became.
func TestChainsOfMojibakeTakeNoStack(t *testing.T) {
	defer debug.SetMaxStack(debug.SetMaxStack(4 << 20))
	for _, chain := range []string{strings.Repeat("Â", 1<<16) + "¡", strings.Repeat("Â»", 1<<15) + "Â¡"} {
		require.LessOrEqual(t, len(repaired(RepairMojibake, chain)), len(chain)/2)
	}
}

func BenchmarkRepairs(b *testing.B) {
	for _, c := range []struct{ name, text string }{
		{"ASCII", strings.Repeat("Nothing to repair in here, and never was. ", 50)},
		{"CJK", strings.Repeat("日本語の文章です。", 80)},
		{"mojibake", misread(strings.Repeat("L’été dernier, à la forêt. ", 60))},
	} {
		for _, set := range []Repairs{RepairMojibake, RepairNFC, repairEnd - 1} {
			b.Run(fmt.Sprintf("%s/%s", c.name, set), func(b *testing.B) {
				s := []byte(c.text)
				var out []byte
				b.SetBytes(int64(len(s)))
				b.ReportAllocs()
				for b.Loop() {
					if set.Needed(s) {
						out = set.Append(out[:0], s)
					}
				}
			})
		}
	}
}
