package rosa

import (
	"bytes"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// lastMatch returns the match of the last of tokens by the definition, where those before
// the last so many are forgotten.
func lastMatch(x []int64, window int) Match {
	i, best := len(x)-1, none
	for j := i - 1; j >= max(0, len(x)-window); j-- {
		n := 0
		for j-n >= max(0, len(x)-window) && x[j-n] == x[i-n] {
			n++
		}
		if n > best.Length {
			best = Match{Next: x[j+1], Source: j, Length: n}
		}
	}
	return best
}

// FuzzState compares with the definition what comes of tokens and operations: each byte is
// a token, or by its high bits an operation.
func FuzzState(f *testing.F) {
	f.Add(uint8(0), uint8(0), uint8(0), []byte("abracadabra abracadabra"))
	f.Add(uint8(1), uint8(5), uint8(3), []byte{0, 1, 0, 130, 1, 0, 192, 0, 1, 195, 0, 1, 193, 0, 129, 1})
	f.Add(uint8(2), uint8(0), uint8(9), []byte{0, 0, 0, 0, 0, 1, 131, 1, 0, 0, 194, 0, 0})
	f.Add(uint8(7), uint8(2), uint8(1), []byte{5, 70, 5, 70, 192, 5, 129, 70, 5, 70, 193, 5})
	f.Fuzz(func(t *testing.T, kind, size, keep uint8, operations []byte) {
		opts := []StateOption{WithRollback(int(keep % 16))}
		window := math.MaxInt
		if size%32 != 0 {
			window = int(size % 32)
			opts = append(opts, WithWindow(window))
		}
		if kind&1 != 0 {
			opts = append(opts, WithBoundedSteps())
		}
		s := NewState(opts...)
		if kind&2 != 0 && kind&1 == 0 {
			useLinkCut(s)
		}
		var x []int64
		step := func(token int64) {
			if kind&4 != 0 && token >= 64 {
				token *= -1 << 40 // no byte, so that the state is widened
			}
			x = append(x, token)
			m, err := s.Step(token)
			require.NoError(t, err)
			require.Equal(t, lastMatch(x, window), m, "%v", x)
		}
		for _, b := range operations[:min(len(operations), 300)] {
			switch {
			case b < 128:
				step(int64(b))
			case b < 192:
				n := int(b % 64)
				err := s.Rollback(n)
				if n > len(x) || window != math.MaxInt && err != nil {
					require.ErrorIs(t, err, ErrRollback)
					break
				}
				require.NoError(t, err)
				x = x[:len(x)-n]
			case b%4 == 0:
				var err error
				s, err = Load(bytes.NewReader(saved(t, s)), opts...)
				require.NoError(t, err)
			case b%4 == 1:
				other := s
				s = s.Clone()
				_, err := other.Prefill([]int64{1, 2, 1000, 1})
				require.NoError(t, err)
			case b%4 == 2:
				s.Reset()
				x = x[:0]
			default:
				tokens := []int64{int64(b % 8), 3, int64(b % 8)}
				got, err := s.Prefill(tokens)
				require.NoError(t, err)
				for i, token := range tokens {
					x = append(x, token)
					require.Equal(t, lastMatch(x, window), got[i])
				}
			}
			require.Equal(t, len(x), s.Len())
			if len(x) > 0 {
				require.Equal(t, lastMatch(x, window), s.Predict(), "%v", x)
			}
		}
	})
}
