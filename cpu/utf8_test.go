package cpu

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// fillUTF8 fills s with code points of up to most bytes, so that it is UTF-8.
func fillUTF8(s []byte, most int, rng *rand.Rand) {
	for i := 0; i < len(s); {
		size := 1 + rng.IntN(min(most, len(s)-i))
		r := rune(0)
		for utf8.RuneLen(r) != size {
			r = rune(rng.IntN([]int{0, 0x80, 0x800, 0x10000, 0x110000}[size]))
		}
		i += utf8.EncodeRune(s[i:], r)
	}
}

func requireValid(t require.TestingT, s []byte) {
	if want, got := utf8.Valid(s), ValidUTF8(s); want != got {
		require.Equal(t, want, got, "%q", s)
	}
}

func TestValidUTF8OfEveryLengthAndPlace(t *testing.T) {
	mem := newArena(t, 4096)
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 2))
		for n := 0; n <= longest+2*64; n++ {
			for s := range places[byte](mem, n) {
				fillUTF8(s, 1+rng.IntN(4), rng)
				require.True(t, ValidUTF8(s), "%q", s)
				if n == 0 {
					continue
				}
				s[rng.IntN(n)] ^= 1 << rng.IntN(8)
				requireValid(t, s)
				s[rng.IntN(n)] = byte(rng.Uint32())
				requireValid(t, s)
			}
		}
	})
}

// TestValidUTF8OfEveryPair puts every two bytes, with what may follow them, at every
// place of a text, those at borders of vectors included.
func TestValidUTF8OfEveryPair(t *testing.T) {
	after := []string{"", "\x80", "\xbf\xbf", "a", "\x80\x80\x80", "é"}
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(3, 4))
		for first := range 256 {
			for second := range 256 {
				pair := string([]byte{byte(first), byte(second)}) + after[rng.IntN(len(after))]
				n := 128 + rng.IntN(140)
				s := []byte(strings.Repeat("a", n))
				if rng.IntN(2) == 0 {
					s = []byte(strings.Repeat("中", n/3+1))[:n/3*3]
				}
				for _, i := range []int{rng.IntN(len(s)) / 3 * 3, rng.IntN(5), len(s) - len(pair), 62, 63, 126, 127} {
					if i+len(pair) > len(s) {
						continue
					}
					text := append([]byte(nil), s...)
					copy(text[i:], pair)
					requireValid(t, text)
				}
			}
		}
	})
}

func TestValidUTF8CutOff(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		for _, r := range []string{"é", "中", "🌱"} {
			for n := range longest + 128 {
				// Cut off at the end, and by ASCII for the rest of the text.
				for cut := range len(r) {
					s := strings.Repeat("x", n) + r[:cut]
					requireValid(t, []byte(s))
					requireValid(t, []byte(s+strings.Repeat("y", 300)))
				}
			}
		}
	})
}

func TestValidUTF8Properties(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			s := []byte(rapid.StringN(0, 500, 2000).Draw(t, "s"))
			require.True(t, ValidUTF8(s))
			requireValid(t, append(s, rapid.SliceOfN(rapid.Byte(), 1, 5).Draw(t, "more")...))
			if len(s) > 0 {
				s[rapid.IntRange(0, len(s)-1).Draw(t, "i")] = rapid.Byte().Draw(t, "b")
				requireValid(t, s)
			}
		})
	})
}

func FuzzValidUTF8(f *testing.F) {
	f.Add([]byte(""))
	f.Add([]byte(strings.Repeat("a", 128) + "é中🌱" + strings.Repeat("中", 50)))
	f.Add([]byte(strings.Repeat("🌱", 40) + "\xed\xa0\x80" + strings.Repeat("x", 80)))
	f.Add([]byte(strings.Repeat("é", 70) + "\xf4\x90\x80\x80"))
	f.Fuzz(func(t *testing.T, s []byte) {
		was := active
		defer func() { active = was }()
		for active = Generic; active <= best; active++ {
			requireValid(t, s)
		}
	})
}

func BenchmarkValidUTF8(b *testing.B) {
	texts := []struct{ name, text string }{
		{"ascii", "The quick brown fox jumps over the lazy dog. "},
		{"french", "Voilà l’été où les élèves ont reçu leurs prix à l’école. "},
		{"cjk", "速い茶色の狐がのろまな犬を飛び越える。"},
	}
	for _, text := range texts {
		for _, n := range []int{100, 500, 64 << 10} {
			s := []byte(strings.ToValidUTF8(strings.Repeat(text.text, n/len(text.text)+1)[:n], ""))
			b.Run(fmt.Sprintf("%s/%d", text.name, n), func(b *testing.B) {
				eachLevelB(b, func(b *testing.B) {
					b.SetBytes(int64(len(s)))
					for b.Loop() {
						ValidUTF8(s)
					}
				})
			})
		}
	}
}
