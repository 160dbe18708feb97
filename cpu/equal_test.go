package cpu

import (
	"bytes"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEqualOfEveryLengthAndPlace changes each byte in turn.
func TestEqualOfEveryLengthAndPlace(t *testing.T) {
	mem, other := newArena(t, 4096), newArena(t, 4096)
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 2))
		for n := 0; n <= 3*128+2; n++ {
			for a := range places[byte](mem, n) {
				for i := range a {
					a[i] = byte(rng.Uint32())
				}
				b := span[byte](other, rng.IntN(64), n)
				copy(b, a)
				require.True(t, Equal(a, b), n)
				if n > 0 {
					b[rng.IntN(n)]++
					require.False(t, Equal(a, b), n)
				}
			}
			a, b := span[byte](mem, len(mem)-n, n), span[byte](other, len(other)-n, n)
			copy(b, a)
			for i := range b {
				b[i] ^= 0x80
				require.False(t, Equal(a, b), "byte %d of %d", i, n)
				b[i] ^= 0x80
			}
			require.True(t, Equal(a, b))
			require.False(t, Equal(a, append(b[:n:n], 0)))
		}
	})
}

func BenchmarkEqual(b *testing.B) {
	for _, size := range []int{100, 64 << 10, 16 << 20} {
		x := bytes.Repeat([]byte("text "), size/5)
		y := bytes.Clone(x)
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			eachLevelB(b, func(b *testing.B) {
				b.SetBytes(int64(2 * len(x)))
				for b.Loop() {
					if !Equal(x, y) {
						b.Fatal("they are equal")
					}
				}
			})
		})
	}
}
