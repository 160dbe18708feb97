package rosa

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestDictionary compares with a map: dense and sparse tokens, taken back, and begun anew.
func TestDictionary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var d dictionary
		var tokens []int64
		codes := map[int64]uint32{}
		token := rapid.SampledFrom([]*rapid.Generator[int64]{
			rapid.Int64Range(0, 3), rapid.Int64Range(256, 400), rapid.Int64Range(256, 5000), rapid.Int64(), rapid.Int64Range(math.MaxInt64-50, math.MaxInt64),
		})
		for range rapid.IntRange(1, 60).Draw(t, "rounds") {
			generator := token.Draw(t, "tokens")
			for _, x := range rapid.SliceOfN(generator, 0, 60).Draw(t, "new") {
				code, known := d.code(x)
				want, had := codes[x]
				if !had {
					want = uint32(len(tokens))
				}
				require.Equal(t, had, known)
				require.Equal(t, want, code)
				if !known {
					d.add(x)
					codes[x] = code
					tokens = append(tokens, x)
				}
			}
			back := rapid.IntRange(0, 2).Draw(t, "back") * rapid.IntRange(0, len(tokens)).Draw(t, "n") / 2
			if rapid.IntRange(0, 9).Draw(t, "reset") == 0 {
				back = len(tokens)
				d.reset()
			} else {
				d.truncate(len(tokens) - back)
			}
			for _, x := range tokens[len(tokens)-back:] {
				delete(codes, x)
			}
			tokens = tokens[:len(tokens)-back]
			require.True(t, slices.Equal(tokens, d.tokens))
		}
	})
}

// unspread is the inverse of the finaliser of splitmix64: what it makes would all meet in
// one place of a table whose hash is known.
func unspread(x uint64) int64 {
	x ^= x>>31 ^ x>>62
	x *= 0x319642b2d24d8ec3
	x ^= x>>27 ^ x>>54
	x *= 0x96de1b173f119089
	return int64(x ^ x>>30 ^ x>>60)
}

// TestChosenTokens: tokens that are chosen so as to meet do not.
func TestChosenTokens(t *testing.T) {
	var d dictionary
	const n = 1 << 14
	for i := range uint64(n) {
		d.add(unspread((i + 1) << 32))
	}
	mask := len(d.slots) - 1
	for i, c := range d.slots {
		if c != 0 {
			require.Less(t, (i-int(spread(d.tokens[c-1])))&mask, 300)
		}
	}
}

// TestChosenChildren: nor do the codes of children.
func TestChosenChildren(t *testing.T) {
	var s slabs
	var b branches
	n, size := 0, 1<<15
	for c := uint32(0); n < size*7/8-1; c++ {
		if c*0x9E3779B1>>7&uint32(size-1) < uint32(size)*5/8 {
			s.addCode(&b, c+1, 1)
			n++
		}
	}
	slab := s.at(b.kids[1])
	size = codeSlabs[b.kids[2]]
	longest := 0
	for i := range size {
		if slab[2*i+1] != 0 {
			longest = max(longest, (i-codeSlot(uint32(slab[2*i]), size))&(size-1))
		}
	}
	require.Less(t, longest, 3000)
}

// TestMillionsOfChildren: a node may have as many as there are codes.
func TestMillionsOfChildren(t *testing.T) {
	if testing.Short() {
		t.Skip("takes 200 MB")
	}
	var s slabs
	var b branches
	const n = 7_400_000
	for c := range uint32(n) {
		s.addCode(&b, 3*c, int32(c+1))
	}
	for c := uint32(0); c < n; c += 997 {
		require.Equal(t, int32(c+1), *s.codeBranch(&b, 3*c))
		require.Nil(t, s.codeBranch(&b, 3*c+1))
	}
}
