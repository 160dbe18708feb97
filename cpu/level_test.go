package cpu

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// eachLevel runs f at every level that the machine has: the table of twins.
func eachLevel(t *testing.T, f func(t *testing.T)) {
	was := active
	defer func() { active = was }()
	for active = Generic; active <= best; active++ {
		t.Run(active.String(), f)
	}
}

// eachLevelB is eachLevel for benchmarks.
func eachLevelB(b *testing.B, f func(b *testing.B)) {
	was := active
	defer func() { active = was }()
	for active = Generic; active <= best; active++ {
		b.Run(active.String(), f)
	}
}

func TestChooseLevel(t *testing.T) {
	for _, c := range []struct {
		name string
		best Level
		want Level
		says string
	}{
		{"", AVX512, AVX512, ""},
		{"", Generic, Generic, ""},
		{"generic", AVX512, Generic, ""},
		{"avx2", AVX512, AVX2, ""},
		{"avx512", AVX512, AVX512, ""},
		{"avx512", AVX2, AVX2, "avx512, which this machine or build lacks; using avx2"},
		{"avx2", Generic, Generic, "avx2, which this machine or build lacks; using generic"},
		{"AVX2", AVX512, AVX512, `"AVX2" is none of generic, avx2, avx512; using avx512`},
		{"neon", AVX2, AVX2, `"neon" is none of generic, avx2, avx512; using avx2`},
	} {
		got, err := choose(c.name, c.best)
		require.Equal(t, c.want, got, c.name)
		if c.says == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, ErrLevel)
		require.ErrorContains(t, err, c.says)
	}
}

func TestLevelOfThisProcess(t *testing.T) {
	name, err := Forced()
	want, wantErr := choose(name, Best())
	require.Equal(t, want, Active())
	require.Equal(t, wantErr, err)
}
