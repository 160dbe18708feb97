package cpu

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// stringColumn is strings in views, with the buffers of the longer ones.
type stringColumn struct {
	strings [][]byte
	views   []View
	buffers [][]byte
}

// newStringColumn returns a column of strings of the lengths. Longer ones lie end to
// end in buffers of bufferSize bytes at most; buffers are made by alloc.
func newStringColumn(lengths []int, bufferSize int, alloc func(n int) []byte, rng *rand.Rand) *stringColumn {
	c := new(stringColumn)
	var parts [][]byte
	size := 0
	closeBuffer := func() {
		b := alloc(size)
		copy(b, bytes.Join(parts, nil))
		c.buffers = append(c.buffers, b)
		parts, size = nil, 0
	}
	for _, n := range lengths {
		s := make([]byte, n)
		for i := range s {
			s[i] = byte(rng.Uint32())
		}
		var v [16]byte
		binary.LittleEndian.PutUint32(v[:], uint32(n))
		copy(v[4:], s[:min(n, 12)])
		if n > 12 {
			if size > 0 && size+n > bufferSize {
				closeBuffer()
			}
			binary.LittleEndian.PutUint32(v[8:], uint32(len(c.buffers)))
			binary.LittleEndian.PutUint32(v[12:], uint32(size))
			parts, size = append(parts, s), size+n
		}
		c.strings = append(c.strings, s)
		c.views = append(c.views, View{binary.LittleEndian.Uint64(v[:]), binary.LittleEndian.Uint64(v[8:])})
	}
	closeBuffer()
	return c
}

// shuffle changes the order of the strings, in part or altogether.
func (c *stringColumn) shuffle(swaps int, rng *rand.Rand) {
	for range swaps {
		i, j := rng.IntN(len(c.views)), rng.IntN(len(c.views))
		c.views[i], c.views[j] = c.views[j], c.views[i]
		c.strings[i], c.strings[j] = c.strings[j], c.strings[i]
	}
}

// require checks what Gather makes of c in dst, which has some bytes more than it needs.
func (c *stringColumn) require(t require.TestingT, dst []byte) {
	want := bytes.Join(c.strings, nil)
	ends, wantEnds := make([]uint32, len(c.views)+1), make([]uint32, len(c.views)+1)
	ends[len(c.views)], wantEnds[len(c.views)] = 77, 77
	at := 0
	for i, s := range c.strings {
		at += len(s)
		wantEnds[i] = uint32(at)
	}
	n := Gather(dst, ends, c.views, c.buffers)
	require.Equal(t, len(want), n)
	if !bytes.Equal(want, dst[:n]) {
		require.Equal(t, want, dst[:n])
	}
	require.Equal(t, wantEnds, ends)
}

func (c *stringColumn) size() int { return int(sumLengthsGeneric(c.views)) }

// columnLengths are lengths of strings, of one kind in a column or of all kinds.
func columnLengths(n int, rng *rand.Rand) []int {
	kinds := [][]int{{0}, {0, 1, 5, 11, 12}, {13, 14, 20, 31, 32, 33, 63, 64}, {65, 100, 127, 128, 129, 191, 192, 193, 500}, {0, 3, 12, 13, 30, 64, 65, 128, 129, 3000}}
	kind := kinds[rng.IntN(len(kinds))]
	lengths := make([]int, n)
	for i := range lengths {
		lengths[i] = kind[rng.IntN(len(kind))]
	}
	return lengths
}

func TestGatherOfEveryLength(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 2))
		for n := 0; n <= 400; n++ {
			for _, count := range []int{1, 2, 3, 9} {
				lengths := make([]int, count)
				for i := range lengths {
					lengths[i] = n
				}
				c := newStringColumn(lengths, 1<<20, func(n int) []byte { return make([]byte, n) }, rng)
				c.require(t, make([]byte, c.size()))
				c.require(t, make([]byte, c.size()+100))
				if count > 1 {
					c.shuffle(count, rng)
					c.require(t, make([]byte, c.size()+rng.IntN(100)))
				}
			}
		}
	})
}

func TestGatherOfEveryCountAndPlace(t *testing.T) {
	views, dsts, buffers := newArena(t, 4096), newArena(t, 1<<20), newArena(t, 1<<20)
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(3, 4))
		for n := 0; n <= longest; n++ {
			for range 8 {
				// Buffers side by side up to the end of the arena, without any slack.
				end := 0
				lengths := columnLengths(n, rng)
				c := newStringColumn(lengths, 200+rng.IntN(5000), func(n int) []byte { end += n; return make([]byte, n) }, rng)
				for i, b := range c.buffers {
					in := span[byte](buffers, len(buffers)-end, len(b))
					copy(in, b)
					end -= len(b)
					c.buffers[i] = in
				}
				if n > 0 {
					c.shuffle([]int{0, 1, n / 4, n}[rng.IntN(4)], rng)
				}
				in := span[View](views, len(views)-16*n, n)
				copy(in, c.views)
				c.views = in
				// dst ends where memory does.
				size := c.size()
				c.require(t, span[byte](dsts, len(dsts)-size, size))
				// Nothing beyond dst is touched where memory goes on.
				for i := range dsts[:size+500] {
					dsts[i] = 0xa5
				}
				o, slack := rng.IntN(64), rng.IntN(100)
				c.require(t, span[byte](dsts, 64+o, size+slack))
				require.Equal(t, bytes.Repeat([]byte{0xa5}, 64+o), dsts[:64+o])
				require.Equal(t, bytes.Repeat([]byte{0xa5}, 100), dsts[64+o+size+slack:][:100])
			}
		}
	})
}

func TestGatherReadsUpToCapacity(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(5, 6))
		for slack := range 130 {
			c := newStringColumn([]int{13, 40, 64, 20, 13}, 60, func(n int) []byte { return atEnd[byte](t, n+slack)[:n] }, rng)
			c.require(t, make([]byte, c.size()+64))
		}
	})
}

func TestGatherOfLongStrings(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(7, 8))
		lengths := []int{5, 100_000, 64, 3_000_001, 70, 0, 2048, 13}
		c := newStringColumn(lengths, 1<<30, func(n int) []byte { return make([]byte, n) }, rng)
		c.require(t, make([]byte, c.size()))
		c.shuffle(3, rng)
		c.require(t, make([]byte, c.size()+1))
	})
}

// TestGatherOfWrongViews wants a panic that can be recovered from where views point out
// of their buffers or dst is too short, and nothing beyond dst written.
func TestGatherOfWrongViews(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(9, 10))
		for _, n := range []int{5, 20, 64, 65, 500} {
			c := newStringColumn([]int{n, n, n, n, n, n}, 1<<20, func(n int) []byte { return make([]byte, n) }, rng)
			require.Panics(t, func() { Gather(atEnd[byte](t, c.size()-1), make([]uint32, 6), c.views, c.buffers) }, n)
			require.Panics(t, func() { Gather(make([]byte, 4096), make([]uint32, 5), c.views, c.buffers) }, n)
			if n > 12 {
				require.Panics(t, func() { Gather(make([]byte, 4096), make([]uint32, 6), c.views, nil) }, n)
				c.buffers[0] = c.buffers[0][: c.size()-1 : c.size()-1]
				require.Panics(t, func() { Gather(make([]byte, 4096), make([]uint32, 6), c.views, c.buffers) }, n)
			}
		}
	})
}

func TestGatherProperties(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
			lengths := rapid.SliceOfN(rapid.OneOf(rapid.IntRange(0, 12), rapid.IntRange(13, 64), rapid.IntRange(65, 700)), 1, 200).Draw(t, "lengths")
			slack := rapid.IntRange(0, 100).Draw(t, "slack")
			c := newStringColumn(lengths, rapid.IntRange(1, 20_000).Draw(t, "buffer"), func(n int) []byte { return make([]byte, n, n+slack) }, rng)
			c.shuffle(rapid.IntRange(0, 50).Draw(t, "swaps"), rng)
			c.require(t, make([]byte, c.size()+rapid.IntRange(0, 100).Draw(t, "room")))
		})
	})
}

func TestGatherOfManyViews(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(11, 12))
		for range 5 {
			c := newStringColumn(columnLengths(5000, rng), 100_000, func(n int) []byte { return make([]byte, n) }, rng)
			c.shuffle(20, rng)
			c.require(t, make([]byte, c.size()))
		}
	})
}

func BenchmarkGather(b *testing.B) {
	rng := rand.New(rand.NewPCG(13, 14))
	for _, kind := range []struct {
		name        string
		least, most int
		n           int
		shuffled    bool
	}{
		{"inline", 0, 12, 300_000, false},
		{"short", 1, 24, 300_000, false},
		{"medium", 13, 64, 300_000, false},
		{"medium-shuffled", 13, 64, 300_000, true},
		{"mixed", 1, 200, 100_000, false},
		{"docs", 250, 750, 20_000, false},
		{"docs-shuffled", 250, 750, 20_000, true},
		{"docs-cached", 250, 750, 400, false},
		{"docs-cached-shuffled", 250, 750, 400, true},
		{"long", 10_000, 50_000, 400, false},
		{"long-shuffled", 10_000, 50_000, 400, true},
	} {
		lengths := make([]int, kind.n)
		for i := range lengths {
			lengths[i] = kind.least + rng.IntN(kind.most-kind.least+1)
		}
		c := newStringColumn(lengths, 1<<30, func(n int) []byte { return make([]byte, n, n+64) }, rng)
		if kind.shuffled {
			c.shuffle(4*kind.n, rng)
		}
		size := c.size()
		dst, src, ends := make([]byte, size+64), make([]byte, size+64), make([]uint32, kind.n)
		copy(src, bytes.Repeat([]byte("memory that is there"), size/20))
		copy(dst, src)
		b.Run(kind.name, func(b *testing.B) {
			b.Run("memmove", func(b *testing.B) {
				b.SetBytes(int64(size))
				for b.Loop() {
					copy(dst[:size], src)
				}
			})
			eachLevelB(b, func(b *testing.B) {
				b.SetBytes(int64(size))
				for b.Loop() {
					Gather(dst, ends, c.views, c.buffers)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*kind.n), "ns/string")
			})
		})
	}
}
