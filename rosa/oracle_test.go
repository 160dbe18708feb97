package rosa

import (
	"bufio"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math/bits"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRecordedTop1 compares with the recorded answers of rosa-torch-native 0.4.0.
func TestRecordedTop1(t *testing.T) {
	f, err := os.Open("testdata/top1.jsonl.gz")
	require.NoError(t, err)
	defer f.Close()
	r, err := gzip.NewReader(f)
	require.NoError(t, err)
	lines, positions := 0, 0
	for scan := lineScanner(bufio.NewReader(r)); scan.Scan(); lines++ {
		var c struct {
			Name                         string
			Tokens, Pred, Source, Length []int64
		}
		require.NoError(t, json.Unmarshal(scan.Bytes(), &c))
		for _, s := range []*State{NewState(), NewState(WithBoundedSteps())} {
			matches, err := s.Prefill(c.Tokens)
			require.NoError(t, err)
			for i, m := range matches {
				require.Equal(t, Match{c.Pred[i], int(c.Source[i]), int(c.Length[i])}, m, "%s at %d", c.Name, i)
			}
		}
		positions += len(c.Tokens)
	}
	require.Equal(t, 50, lines)
	t.Log(positions, "positions")
}

// TestRecordedLarge compares hashes of the answers for long generated streams.
func TestRecordedLarge(t *testing.T) {
	f, err := os.Open("testdata/large_hashed.jsonl")
	require.NoError(t, err)
	defer f.Close()
	for scan := lineScanner(bufio.NewReader(f)); scan.Scan(); {
		var c struct {
			generator
			TokensSHA256 string `json:"tokens_sha256"`
			PredSHA256   string `json:"pred_sha256"`
			SourceSHA256 string `json:"source_sha256"`
			LengthSHA256 string `json:"length_sha256"`
		}
		require.NoError(t, json.Unmarshal(scan.Bytes(), &c))
		tokens := c.tokens(t)
		require.Equal(t, c.TokensSHA256, hashOf(len(tokens), func(i int) int64 { return tokens[i] }), "%+v", c.generator)
		linked := NewState()
		useLinkCut(linked)
		for _, s := range []*State{NewState(), linked, NewState(WithBoundedSteps())} {
			m, err := s.Prefill(tokens)
			require.NoError(t, err)
			require.Equal(t, c.PredSHA256, hashOf(len(m), func(i int) int64 { return m[i].Next }), "%+v", c.generator)
			require.Equal(t, c.SourceSHA256, hashOf(len(m), func(i int) int64 { return int64(m[i].Source) }), "%+v", c.generator)
			require.Equal(t, c.LengthSHA256, hashOf(len(m), func(i int) int64 { return int64(m[i].Length) }), "%+v", c.generator)
		}
	}
}

func lineScanner(r *bufio.Reader) *bufio.Scanner {
	s := bufio.NewScanner(r)
	s.Buffer(nil, 1<<24)
	return s
}

// hashOf returns the SHA-256 of numbers as little endian int64.
func hashOf(n int, at func(i int) int64) string {
	b := make([]byte, 0, 8*n)
	for i := range n {
		b = binary.LittleEndian.AppendUint64(b, uint64(at(i)))
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// generator describes a stream; testdata/README.md says how it is made.
type generator struct {
	Gen    string
	N      int
	K      uint64
	Seed   uint64
	Period []int64
	MaxLen uint64 `json:"maxlen"`
}

func (g generator) tokens(t *testing.T) []int64 {
	x := make([]int64, 0, g.N)
	r := splitmix64(g.Seed)
	switch g.Gen {
	case "random":
		for range g.N {
			x = append(x, int64(r.below(g.K)))
		}
	case "fibonacci":
		a, b := []int64{0}, []int64{0, 1}
		for len(b) < g.N {
			a, b = b, append(b[:len(b):len(b)], a...)
		}
		x = b[:g.N]
	case "thue_morse":
		for i := range g.N {
			x = append(x, int64(bits.OnesCount(uint(i))&1))
		}
	case "period":
		for i := range g.N {
			x = append(x, g.Period[i%len(g.Period)])
		}
	case "copy":
		for range 8 {
			x = append(x, int64(r.below(g.K)))
		}
		for len(x) < g.N {
			if r.below(3) == 0 {
				x = append(x, int64(r.below(g.K)))
				continue
			}
			at := r.below(uint64(len(x)))
			for j := range 1 + r.below(g.MaxLen) {
				x = append(x, x[at+j])
			}
		}
		x = x[:g.N]
	default:
		require.Fail(t, "unknown generator", g.Gen)
	}
	return x
}

type splitmix64 uint64

func (s *splitmix64) below(k uint64) uint64 {
	*s += 0x9e3779b97f4a7c15
	x := uint64(*s)
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return (x ^ x>>31) % k
}
