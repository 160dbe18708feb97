package rosa

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// bruteQKV returns the last match by the definition.
func bruteQKV(q, k, v []int64) Match {
	i := len(q) - 1
	for w := i; w > 0; w-- {
		for j := i - w; j >= 0; j-- {
			if slices.Equal(k[j:j+w], q[i+1-w:]) {
				return Match{Next: v[j+w], Source: j + w - 1, Length: w}
			}
		}
	}
	return none
}

// newLinkedQKV returns a QKV whose automaton goes over to the link-cut tree at once.
func newLinkedQKV() *QKV {
	s := NewQKV()
	s.keys = newAutomaton(1)
	s.keys.climbs = math.MaxInt64 / 2
	return s
}

// TestEveryQKV compares every pair of short queries and keys with the definition.
func TestEveryQKV(t *testing.T) {
	three, two := 4, 7
	if testing.Short() {
		three, two = 3, 5
	}
	for _, alphabet := range []struct{ tokens, n int }{{2, two}, {3, three}} {
		var q, k, v []int64
		var visit func(plain, linked, codes *QKV)
		visit = func(plain, linked, codes *QKV) {
			if len(q) == alphabet.n {
				return
			}
			for pair := range int64(alphabet.tokens * alphabet.tokens) {
				q, k, v = append(q, pair%int64(alphabet.tokens)), append(k, pair/int64(alphabet.tokens)), append(v, int64(len(q)))
				want, i := bruteQKV(q, k, v), len(q)-1
				p, l, c := plain.Clone(), linked.Clone(), codes.Clone()
				for _, state := range []struct {
					s     *QKV
					shift int64
				}{{p, 0}, {l, 0}, {c, 255}} {
					if got, err := state.s.Step(q[i]+state.shift, k[i]+state.shift, v[i]); got != want || err != nil {
						t.Fatalf("queries %v, keys %v: %+v, not %+v (%v)", q, k, got, want, err)
					}
				}
				visit(p, l, c)
				q, k, v = q[:i], k[:i], v[:i]
			}
		}
		visit(NewQKV(), newLinkedQKV(), NewQKV())
	}
}

func TestQKVAgainstBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := NewQKV()
		if rapid.Bool().Draw(t, "linked") {
			s = newLinkedQKV()
		}
		if rapid.Bool().Draw(t, "reset") {
			x := drawTokens(t)
			_, err := s.Prefill(x, x, x)
			require.NoError(t, err)
			s.Reset()
		}
		k := drawTokens(t)
		k = k[:min(len(k), 150)]
		// Queries are pieces of the keys, and others.
		var q []int64
		for len(q) < len(k) {
			from := rapid.IntRange(0, len(k)-1).Draw(t, "from")
			to := rapid.IntRange(from, len(k)-1).Draw(t, "to")
			q = append(append(q, k[from:to+1]...), rapid.SampledFrom([]int64{0, 1, 255, 256, math.MinInt64}).Draw(t, "other"))
		}
		q = q[:len(k)]
		v := make([]int64, len(k))
		want := make([]Match, len(k))
		for i := range v {
			v[i] = rapid.Int64().Draw(t, "value")
			want[i] = bruteQKV(q[:i+1], k[:i+1], v[:i+1])
		}
		for i := 0; i < len(k); {
			n := rapid.IntRange(1, len(k)-i).Draw(t, "n")
			if rapid.IntRange(0, 3).Draw(t, "operation") == 0 {
				other := s
				s = s.Clone()
				_, err := other.Prefill(q[i:i+n], v[i:i+n], k[i:i+n])
				require.NoError(t, err)
			}
			got, err := s.Prefill(q[i:i+n], k[i:i+n], v[i:i+n])
			require.NoError(t, err)
			require.Equal(t, want[i:i+n], got)
			i += n
			require.Equal(t, i, s.Len())
		}
	})
}

// TestQKVOfOneStream: with queries, keys and values the same, the answers are those of State.
func TestQKVOfOneStream(t *testing.T) {
	n := 20_000
	for _, in := range streams {
		f := in.token(n)
		x := make([]int64, n)
		for i := range x {
			x[i] = f(i)
		}
		want, err := NewState().Prefill(x)
		require.NoError(t, err)
		for _, s := range []*QKV{NewQKV(), newLinkedQKV()} {
			got, err := s.Prefill(x, x, x)
			require.NoError(t, err)
			for i := range want {
				if want[i] != got[i] {
					require.Equal(t, want[i], got[i], "%s at %d", in.name, i)
				}
			}
		}
	}
}

func TestQKVRefuses(t *testing.T) {
	s := &QKV{limit: 2}
	two := []int64{1, 2}
	for _, err := range []error{
		s.PrefillInto(make([]Match, 1), two, two, two), s.PrefillInto(make([]Match, 2), two[:1], two, two),
		s.PrefillInto(make([]Match, 2), two, two[:1], two), s.PrefillInto(make([]Match, 2), two, two, nil),
	} {
		require.ErrorIs(t, err, ErrLength)
	}
	three := make([]int64, 3)
	_, err := s.Prefill(three, three, three)
	require.ErrorIs(t, err, ErrFull)
	require.Zero(t, s.Len())
	_, err = s.Prefill(two, two, two)
	require.NoError(t, err)
	_, err = s.Step(1, 1, 1)
	require.ErrorIs(t, err, ErrFull)
	require.Equal(t, 2, s.Len())
	s.Reset()
	m, err := s.Step(1, 1, 1)
	require.NoError(t, err)
	require.False(t, m.Found())
}

// FuzzQKV compares with the definition: each byte is a query and a key.
func FuzzQKV(f *testing.F) {
	f.Add(true, []byte("abracadabra"))
	f.Add(false, []byte{0, 1, 0x10, 0x11, 0, 0x10, 0x77, 0x70, 0x11})
	f.Fuzz(func(t *testing.T, linked bool, pairs []byte) {
		s := NewQKV()
		if linked {
			s = newLinkedQKV()
		}
		var q, k, v []int64
		for i, pair := range pairs[:min(len(pairs), 100)] {
			q, k, v = append(q, int64(pair&7)+250), append(k, int64(pair>>4&7)+250), append(v, int64(i)-3)
			got, err := s.Step(q[i], k[i], v[i])
			require.NoError(t, err)
			require.Equal(t, bruteQKV(q, k, v), got)
		}
	})
}
