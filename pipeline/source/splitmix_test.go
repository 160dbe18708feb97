package source

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The first outputs of SplitMix64 from seed 0 and from 1234567, as its reference
// implementation gives them.
func TestSplitmix(t *testing.T) {
	for _, c := range []struct {
		seed uint64
		want []uint64
	}{
		{0, []uint64{0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4, 0x06c45d188009454f}},
		{1234567, []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423}},
	} {
		for i, want := range c.want {
			require.Equal(t, want, splitmix(c.seed+uint64(i)*splitmixStep))
		}
	}
}

func TestDerivedSeedsDiffer(t *testing.T) {
	seen := map[uint64]bool{0: true}
	for seed := range uint64(10) {
		for a := range uint64(10) {
			for b := range uint64(10) {
				s := deriveSeed(seed, a, b)
				require.False(t, seen[s])
				seen[s] = true
			}
		}
	}
}
