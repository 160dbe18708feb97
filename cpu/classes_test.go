package cpu

import (
	"bytes"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// longest is the length up to which every length is tested.
const longest = 130

// blocksOf computes the masks of s byte by byte, from the words of the documentation.
func blocksOf(s []byte) (blocks []Block, union Block) {
	in := func(c byte, set string) uint64 {
		if strings.IndexByte(set, c) >= 0 {
			return 1
		}
		return 0
	}
	const digits = "0123456789"
	const alnum = digits + "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	blocks = make([]Block, (len(s)+63)/64)
	for i, c := range s {
		for _, b := range []*Block{&blocks[i/64], &union} {
			k := i % 64
			b.Space |= in(c, "\t\n\v\f\r ") << k
			b.Alnum |= in(c, alnum) << k
			b.Digit |= in(c, digits) << k
			b.At |= in(c, "@") << k
			b.Dot |= in(c, ".") << k
			b.Colon |= in(c, ":") << k
			b.Key |= in(c, alnum+"_-.") << k
			if c >= 0x80 {
				b.NonASCII |= 1 << k
			}
		}
	}
	return blocks, union
}

// countsOf counts from the masks of blocksOf.
func countsOf(s []byte) (n ClassCounts) {
	blocks, _ := blocksOf(s)
	for _, b := range blocks {
		n.Letters += bits.OnesCount64(b.Alnum &^ b.Digit)
		n.Digits += bits.OnesCount64(b.Digit)
		n.Spaces += bits.OnesCount64(b.Space)
		n.NonASCII += bits.OnesCount64(b.NonASCII)
	}
	n.Symbols = len(s) - n.Letters - n.Digits - n.Spaces - n.NonASCII
	n.Lines = bytes.Count(s, []byte("\n"))
	return n
}

// fillBytes fills s with bytes of all kinds, mostly ASCII.
func fillBytes(s []byte, rng *rand.Rand) {
	for i := range s {
		s[i] = byte(rng.Uint32())
		if rng.IntN(4) > 0 {
			s[i] &= 0x7f
		}
	}
}

// randomBytes draws up to 1000 bytes; their length is no less likely to be great.
func randomBytes(t *rapid.T) []byte {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	s := make([]byte, rng.IntN(1000))
	fillBytes(s, rng)
	return s
}

func requireClasses(t require.TestingT, s []byte) {
	// What is in dst before does not matter.
	got := make([]Block, (len(s)+63)/64)
	for i := range got {
		got[i] = Block{^uint64(0), 1, 2, 3, 4, 5, 6, 7}
	}
	want, wantUnion := blocksOf(s)
	require.Equal(t, wantUnion, Classify(got, s), "%q", s)
	require.Equal(t, want, got, "%q", s)
	require.Equal(t, countsOf(s), CountClasses(s), "%q", s)
}

// TestClassesOfEveryByte has each byte at each place of a block.
func TestClassesOfEveryByte(t *testing.T) {
	s := make([]byte, 256)
	eachLevel(t, func(t *testing.T) {
		for first := range BlockSize {
			for i := range s {
				s[i] = byte(first + i)
			}
			requireClasses(t, s)
		}
	})
}

func TestClassesOfEveryLengthAndPlace(t *testing.T) {
	mem := newArena(t, 4096)
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 2))
		for n := 0; n <= longest; n++ {
			for s := range places[byte](mem, n) {
				fillBytes(s, rng)
				want, wantUnion := blocksOf(s)
				got := make([]Block, len(want)+1)
				union := Classify(got, s)
				if union != wantUnion || fmt.Sprint(got[:len(want)]) != fmt.Sprint(want) {
					require.Equal(t, want, got[:len(want)], "%q", s)
					require.Equal(t, wantUnion, union, "%q", s)
				}
				require.Zero(t, got[len(want)])
				if c := CountClasses(s); c != countsOf(s) {
					require.Equal(t, countsOf(s), c, "%q", s)
				}
			}
		}
	})
}

func TestClassesWriteNothingElse(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		s := []byte(strings.Repeat("a.b@c:d 1-2_\n", 10))
		for n := range len(s) {
			Classify(atEnd[Block](t, (n+63)/64), s[:n])
		}
	})
}

func TestClassesProperties(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			s := randomBytes(t)
			// Many times over, so that counters of bytes would overflow.
			requireClasses(t, bytes.Repeat(s, rapid.IntRange(1, 30).Draw(t, "times")))
		})
	})
}

func TestCountClassesOfLongRuns(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		for _, c := range []byte("a0 \n-\xff") {
			for _, n := range []int{254 * 32, 255 * 32, 256 * 32, 100_001} {
				s := bytes.Repeat([]byte{c}, n)
				require.Equal(t, countsOf(s), CountClasses(s), "%d × %q", n, c)
			}
		}
	})
}

func FuzzClassify(f *testing.F) {
	f.Add([]byte(""))
	f.Add([]byte("mail a.b-c_d@example.org: 0123456789 \t\r\n \xf0\x9f\x8c\xb1 [\\]^`{|}~/"))
	f.Fuzz(func(t *testing.T, s []byte) {
		was := active
		defer func() { active = was }()
		for active = Generic; active <= best; active++ {
			requireClasses(t, s)
		}
	})
}

// prose returns n bytes of text in Latin letters.
func prose(n int) []byte {
	const line = "The quick brown fox jumps over 13 lazy dogs; mail fox@forest.example at 10:30.\n"
	return []byte(strings.Repeat(line, n/len(line)+1)[:n])
}

func BenchmarkClassify(b *testing.B) {
	for _, n := range []int{40, 500, 16 << 10} {
		s, dst := prose(n), make([]Block, n/64+1)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			eachLevelB(b, func(b *testing.B) {
				b.SetBytes(int64(n))
				for b.Loop() {
					Classify(dst, s)
				}
			})
		})
	}
}

func BenchmarkCountClasses(b *testing.B) {
	for _, n := range []int{500, 16 << 10} {
		s := prose(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			eachLevelB(b, func(b *testing.B) {
				b.SetBytes(int64(n))
				for b.Loop() {
					CountClasses(s)
				}
			})
		})
	}
}
