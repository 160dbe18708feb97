package cpu

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// lengths are those at which views change their kind, and some more.
var lengths = []uint32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 100, 1<<31 - 1, 1 << 31, math.MaxUint32}

// fillViews fills views with one of a few beginnings and any of the lengths; what they
// point to does not matter.
func fillViews(views []View, rng *rand.Rand) {
	for i := range views {
		begin := [...]uint32{0x61616161, 0x61616162, 0, 0xffffffff}[rng.IntN(4)]
		views[i] = View{uint64(lengths[rng.IntN(len(lengths))]) | uint64(begin)<<32, rng.Uint64()}
	}
}

func requireMatch(t require.TestingT, dst []uint64, views []View, key, mask uint64) {
	for i := range dst {
		dst[i] = ^uint64(0)
	}
	MatchViews(dst, views, key, mask)
	for i := range 64 * len(dst) {
		want := i < len(views) && views[i][0]&mask == key&mask
		if dst[i/64]>>(i%64)&1 != 0 != want {
			require.Fail(t, "wrong bit", "%d of %x, key %x, mask %x", i, views, key, mask)
		}
	}
}

// keys are pairs of key and mask: a beginning of 0…4 bytes, a length, both, and a key
// with bits outside its mask.
var keys = [][2]uint64{
	{0, 0}, {0x61 << 32, 0xff << 32}, {0x616161 << 32, 0xffffff << 32}, {0x61616162 << 32, 0xffffffff << 32},
	{13, 0xffffffff}, {0x61616161<<32 | 100, math.MaxUint64}, {math.MaxUint64, 0xff << 40}, {1 << 31, 1 << 31},
}

func TestMatchViewsOfEveryLengthAndPlace(t *testing.T) {
	mem, dsts := newArena(t, 4096), newArena(t, 4096)
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 2))
		for n := 0; n <= longest; n++ {
			words := (n + 63) / 64
			for views := range places[View](mem, n) {
				fillViews(views, rng)
				for dst := range places[uint64](dsts, words) {
					k := keys[rng.IntN(len(keys))]
					requireMatch(t, dst, views, k[0], k[1])
				}
			}
		}
	})
}

func TestMatchViewsProperties(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			views := make([]View, rapid.IntRange(0, 3000).Draw(t, "n"))
			fillViews(views, rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)))
			k := rapid.SampledFrom(keys).Draw(t, "key")
			requireMatch(t, make([]uint64, (len(views)+63)/64), views, k[0], k[1])
		})
	})
}

// firstDiff is DiffViews by the bytes of the views, as its documentation says.
func firstDiff(a, b []View, shift uint64) int {
	for i := range a {
		var x, y [16]byte
		binary.LittleEndian.PutUint64(x[:], a[i][0])
		binary.LittleEndian.PutUint64(x[8:], a[i][1])
		binary.LittleEndian.PutUint64(y[:], b[i][0])
		binary.LittleEndian.PutUint64(y[8:], b[i][1])
		if binary.LittleEndian.Uint32(x[:]) > 12 {
			binary.LittleEndian.PutUint64(x[8:], binary.LittleEndian.Uint64(x[8:])+shift)
		}
		if !bytes.Equal(x[:], y[:]) {
			return i
		}
	}
	return len(a)
}

// shifts are of the offset and the number of the buffer, with and without wrapping.
var shifts = []uint64{0, 1, 5 << 32, math.MaxUint64 - 1<<32 + 1, math.MaxUint64, 1 << 63, 0xdeadbeef_00000003}

func TestDiffViewsOfEveryLengthAndPlace(t *testing.T) {
	memA, memB := newArena(t, 4096), newArena(t, 4096)
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(3, 4))
		for n := 0; n <= longest; n++ {
			for a := range places[View](memA, n) {
				fillViews(a, rng)
				for b := range places[View](memB, n) {
					shift := shifts[rng.IntN(len(shifts))]
					for i := range a {
						b[i] = a[i]
						if uint32(a[i][0]) > 12 {
							b[i][1] += shift
						}
					}
					require.Equal(t, n, DiffViews(a, b, shift))
					if n == 0 {
						continue
					}
					// One bit of one view, and then of one before it.
					for i := n; i > 0; i = rng.IntN(i) {
						b[i-1][rng.IntN(2)] ^= 1 << rng.IntN(64)
						if want, got := firstDiff(a, b, shift), DiffViews(a, b, shift); want != got {
							require.Equal(t, want, got, "shift %x\n%x\n%x", shift, a, b)
						}
					}
				}
			}
		}
	})
}

func TestDiffViewsOfEveryBit(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		for _, length := range lengths {
			for _, shift := range shifts {
				for i := range 17 {
					for bit := range 128 {
						a, b := make([]View, 17), make([]View, 17)
						for k := range a {
							a[k] = View{uint64(length), 7 << 32}
							b[k] = a[k]
							if length > 12 {
								b[k][1] += shift
							}
						}
						b[i][bit/64] ^= 1 << (bit % 64)
						if got := DiffViews(a, b, shift); got != i {
							require.Equal(t, i, got, "length %d shift %x bit %d", length, shift, bit)
						}
					}
				}
			}
		}
	})
}

func TestSumLengthsOfEveryLengthAndPlace(t *testing.T) {
	mem := newArena(t, 4096)
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(5, 6))
		for n := 0; n <= longest; n++ {
			for views := range places[View](mem, n) {
				fillViews(views, rng)
				var want uint64
				for _, v := range views {
					var b [16]byte
					binary.LittleEndian.PutUint64(b[:], v[0])
					want += uint64(binary.LittleEndian.Uint32(b[:]))
				}
				require.Equal(t, want, SumLengths(views))
			}
		}
	})
}

func TestDiffViewsKeepsToA(t *testing.T) {
	a, b := make([]View, 20), make([]View, 40)
	require.Equal(t, 20, DiffViews(a, b, 0))
	require.Panics(t, func() { DiffViews(b, a, 0) })
}

// benchmarkViews returns views of strings of 8…40 bytes.
func benchmarkViews(n int) []View {
	rng := rand.New(rand.NewPCG(7, 8))
	views := make([]View, n)
	for i := range views {
		views[i] = View{8 + rng.Uint64N(32) | rng.Uint64N(100)<<32, uint64(i) << 37}
	}
	return views
}

func BenchmarkMatchViews(b *testing.B) {
	for _, n := range []int{1000, 300_000} {
		views, dst := benchmarkViews(n), make([]uint64, n/64+1)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			eachLevelB(b, func(b *testing.B) {
				b.SetBytes(int64(16 * n))
				for b.Loop() {
					MatchViews(dst, views, 7<<32, 0xff<<32)
				}
			})
		})
	}
}

func BenchmarkDiffViews(b *testing.B) {
	for _, n := range []int{1000, 300_000} {
		for _, shift := range []uint64{0, 3 << 32} {
			x, y := benchmarkViews(n), benchmarkViews(n)
			for i := range y {
				if uint32(y[i][0]) > 12 {
					y[i][1] += shift
				}
			}
			b.Run(fmt.Sprintf("%d/shift=%d", n, shift), func(b *testing.B) {
				eachLevelB(b, func(b *testing.B) {
					b.SetBytes(int64(32 * n))
					for b.Loop() {
						DiffViews(x, y, shift)
					}
				})
			})
		}
	}
}

func BenchmarkSumLengths(b *testing.B) {
	for _, n := range []int{1000, 300_000} {
		views := benchmarkViews(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			eachLevelB(b, func(b *testing.B) {
				b.SetBytes(int64(16 * n))
				for b.Loop() {
					SumLengths(views)
				}
			})
		})
	}
}
