package cpu

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// standsForItself asks encoding/json about bytes of ASCII; all others do.
func standsForItself(c byte) bool {
	var s string
	return c >= 0x80 || json.Unmarshal([]byte{'"', c, '"'}, &s) == nil && s == string(rune(c))
}

func requireMaskJSON(t require.TestingT, dst []uint64, s []byte) {
	var want uint64
	used := MaskJSON(dst, s)
	for i := range 64 * len(dst) {
		special := i < len(s) && !standsForItself(s[i])
		if dst[i/64]>>(i%64)&1 != 0 != special {
			require.Fail(t, "wrong bit", "%d of %q", i, s)
		}
		if special {
			want |= 1 << (i / 64)
		}
	}
	require.Equal(t, want, used, "%q", s)
}

func TestMaskJSONOfEveryByte(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		dst := make([]uint64, 2)
		for c := range 256 {
			for i := range 100 {
				s := []byte("The quick brown fox jumps over the lazy dog, and so on, and so on, until there are a hundred bytes ~")
				s[i] = byte(c)
				require.Len(t, s, 100)
				used := MaskJSON(dst, s)
				bit := uint64(1) << (i % 64)
				if standsForItself(byte(c)) {
					bit = 0
				}
				require.Equal(t, bit, dst[i/64], "%#x", c)
				require.Zero(t, dst[1-i/64])
				require.Equal(t, bit != 0, used == 1<<(i/64))
			}
		}
	})
}

func TestMaskJSONOfEveryLengthAndPlace(t *testing.T) {
	mem, dsts := newArena(t, 4096), newArena(t, 4096)
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(8, 9))
		for n := 0; n <= longest; n++ {
			words := (n + 63) / 64
			dst := span[uint64](dsts, len(dsts)-8*words, words)
			k := 0
			for s := range places[byte](mem, n) {
				fillBytes(s, rng)
				if k++; k%2 == 0 { // words of no bit
					for i := range s[:n/2] {
						s[i] |= 0x80
					}
				}
				requireMaskJSON(t, dst, s)
			}
		}
		s := make([]byte, MaxMaskJSON)
		for i := range s {
			s[i] = byte(rng.IntN(256)) | 0x80&byte(i>>2)
		}
		requireMaskJSON(t, make([]uint64, 64), s)
	})
}

func TestMaskJSONProperties(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			s := randomBytes(t)
			s = s[:min(len(s), MaxMaskJSON)]
			requireMaskJSON(t, make([]uint64, (len(s)+63)/64), s)
		})
	})
}

func BenchmarkMaskJSON(b *testing.B) {
	s, dst := prose(600), make([]uint64, 10)
	eachLevelB(b, func(b *testing.B) {
		b.SetBytes(int64(len(s)))
		for b.Loop() {
			MaskJSON(dst, s)
		}
	})
}
