package cpu

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// byteSets are sets of every kind, as the bytes in them.
func byteSets() [][]byte {
	all := make([]byte, 256)
	for c := range all {
		all[c] = byte(c)
	}
	return [][]byte{{}, []byte("\"\\"), append([]byte("\"\\"), all[:32]...), {0, 0x7f, 0x80, 0xff}, all[128:], all}
}

// indexOf is the place of the first byte of s that is in chars, by the standard library.
func indexOf(s, chars []byte) int {
	i := bytes.IndexFunc(latin1(s), func(r rune) bool { return bytes.IndexByte(chars, byte(r)) >= 0 })
	if i < 0 {
		return len(s)
	}
	return len([]rune(string(latin1(s)[:i])))
}

// latin1 returns s as code points of the values of its bytes.
func latin1(s []byte) []byte {
	var b []byte
	for _, c := range s {
		b = append(b, string(rune(c))...)
	}
	return b
}

func requireMask(t require.TestingT, s, chars []byte) {
	got := make([]uint64, (len(s)+63)/64)
	for i := range got {
		got[i] = ^uint64(0)
	}
	want := make([]uint64, len(got))
	for i, c := range s {
		if bytes.IndexByte(chars, c) >= 0 {
			want[i/64] |= 1 << (i % 64)
		}
	}
	MaskAny(got, s, NewByteSet(chars...))
	require.Equal(t, want, got, "%q of %q", chars, s)
}

func TestByteSet(t *testing.T) {
	for _, chars := range byteSets() {
		set := NewByteSet(chars...)
		for c := range 256 {
			require.Equal(t, bytes.IndexByte(chars, byte(c)) >= 0, set.Contains(byte(c)), "%q: %02x", chars, c)
		}
	}
}

func TestIndexAnyOfEveryByte(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		for _, chars := range byteSets() {
			set := NewByteSet(chars...)
			for c := range 256 {
				for _, n := range []int{1, 40, 64} {
					s := bytes.Repeat([]byte{byte(c)}, n)
					want := n
					if bytes.IndexByte(chars, byte(c)) >= 0 {
						want = 0
					}
					require.Equal(t, want, IndexAny(s, set), "%q: %02x × %d", chars, c, n)
					requireMask(t, s, chars)
				}
			}
		}
	})
}

func TestIndexAnyOfEveryLengthAndPlace(t *testing.T) {
	mem := newArena(t, 4096)
	quotes := []byte("\"\\")
	set := NewByteSet(quotes...)
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(3, 4))
		for n := 0; n <= longest; n++ {
			for s := range places[byte](mem, n) {
				for i := range s {
					s[i] = 'a' + byte(rng.IntN(26))
				}
				require.Equal(t, n, IndexAny(s, set))
				if n == 0 {
					continue
				}
				// One hit, and all beyond it too.
				hit := rng.IntN(n)
				s[hit] = '"'
				if got := IndexAny(s, set); got != hit {
					require.Equal(t, hit, got, "%q", s)
				}
				for i := hit; i < n; i++ {
					s[i] = '\\'
				}
				if got := IndexAny(s, set); got != hit {
					require.Equal(t, hit, got, "%q", s)
				}
			}
			// Every place of the hit, at the end of the memory.
			s := span[byte](mem, len(mem)-n, n)
			for hit := range s {
				for i := range s {
					s[i] = 'x'
				}
				s[hit] = '"'
				require.Equal(t, hit, IndexAny(s, set))
			}
		}
	})
}

func TestMaskAnyOfEveryLengthAndPlace(t *testing.T) {
	mem, dsts := newArena(t, 4096), newArena(t, 4096)
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(5, 6))
		for n := 0; n <= longest; n++ {
			chars := byteSets()[n%len(byteSets())]
			set := NewByteSet(chars...)
			words := (n + 63) / 64
			dst := span[uint64](dsts, len(dsts)-8*words, words)
			for s := range places[byte](mem, n) {
				fillBytes(s, rng)
				MaskAny(dst, s, set)
				for i := range 64 * words {
					want := i < n && bytes.IndexByte(chars, s[i]) >= 0
					if dst[i/64]>>(i%64)&1 != 0 != want {
						require.Fail(t, "wrong bit", "%d of %q", i, s)
					}
				}
			}
		}
	})
}

func TestIndexAnyProperties(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			chars := rapid.SliceOfN(rapid.Byte(), 0, 8).Draw(t, "chars")
			s := randomBytes(t)
			require.Equal(t, indexOf(s, chars), IndexAny(s, NewByteSet(chars...)))
			requireMask(t, s, chars)
		})
	})
}

func BenchmarkIndexAny(b *testing.B) {
	set := NewByteSet([]byte("\"\\")...)
	s := prose(64 << 10)
	for _, hit := range []int{4, 12, 24, 50, 500, len(s)} {
		if hit < len(s) {
			s[hit] = '"'
		}
		b.Run(fmt.Sprint(hit), func(b *testing.B) {
			eachLevelB(b, func(b *testing.B) {
				b.SetBytes(int64(hit))
				for b.Loop() {
					IndexAny(s, set)
				}
			})
		})
		if hit < len(s) {
			s[hit] = 'a'
		}
	}
}

func BenchmarkMaskAny(b *testing.B) {
	set := NewByteSet([]byte("\"\\")...)
	s, dst := prose(16<<10), make([]uint64, 256)
	eachLevelB(b, func(b *testing.B) {
		b.SetBytes(int64(len(s)))
		for b.Loop() {
			MaskAny(dst, s, set)
		}
	})
}

// requireMaskByte compares with a look at each byte.
func requireMaskByte(t require.TestingT, dst []uint64, s []byte, b byte) {
	var wantUsed uint64
	want := make([]uint64, len(dst))
	for i, c := range s {
		if c == b {
			want[i/64] |= 1 << (i % 64)
			wantUsed |= 1 << (i / 64)
		}
	}
	for i := range dst {
		dst[i] = ^uint64(0)
	}
	require.Equal(t, wantUsed, MaskByte(dst, s, b))
	require.Equal(t, want, dst, "%#x of %q", b, s)
}

func TestMaskByteOfEveryByte(t *testing.T) {
	all := make([]byte, 256)
	for c := range all {
		all[c] = byte(c)
	}
	eachLevel(t, func(t *testing.T) {
		for c := range all {
			requireMaskByte(t, make([]uint64, 4), all, byte(c))
			requireMaskByte(t, make([]uint64, 1), all[:40], byte(c))
		}
	})
}

func TestMaskByteOfEveryLengthAndPlace(t *testing.T) {
	mem, dsts := newArena(t, 4096), newArena(t, 4096)
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(10, 11))
		for n := 0; n <= longest; n++ {
			words := (n + 63) / 64
			dst := span[uint64](dsts, len(dsts)-8*words, words)
			for s := range places[byte](mem, n) {
				for i := range s {
					s[i] = byte(rng.IntN(8))
				}
				requireMaskByte(t, dst, s, byte(rng.IntN(3)))
			}
		}
		s := make([]byte, MaxMaskByte)
		for i := range s {
			s[i] = byte(rng.IntN(256))
		}
		requireMaskByte(t, make([]uint64, 64), s, 0)
	})
}

func TestMaskByteProperties(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			s := randomBytes(t)
			s = s[:min(len(s), MaxMaskByte)]
			requireMaskByte(t, make([]uint64, (len(s)+63)/64), s, rapid.Byte().Draw(t, "b"))
		})
	})
}

func BenchmarkMaskByte(b *testing.B) {
	s, dst := prose(MaxMaskByte), make([]uint64, 64)
	eachLevelB(b, func(b *testing.B) {
		b.SetBytes(int64(len(s)))
		for b.Loop() {
			MaskByte(dst, s, '\r')
		}
	})
}
