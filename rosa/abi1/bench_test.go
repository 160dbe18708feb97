package abi1

import (
	"fmt"
	"os"
	"testing"

	"github.com/rosaline-go/rosaline/rosa"
)

// streams are inputs of n tokens.
var streams = []struct {
	name  string
	token func(i int) int64
}{
	{"bytes", func(i int) int64 { return int64(uint64(i+1) * 0x9e3779b97f4a7c15 >> 11 * 0xbf58476d1ce4e5b9 >> 56) }},
	{"text", text()},
	{"period", func(i int) int64 { return int64(i % 16) }},
}

// text is English prose and what is around it: the corpus of the examples.
func text() func(i int) int64 {
	b, err := os.ReadFile("../../examples/corpus/part-02.jsonl")
	if err != nil {
		panic(err)
	}
	return func(i int) int64 { return int64(b[i%len(b)]) }
}

func BenchmarkStep(b *testing.B) {
	for _, in := range streams {
		for _, n := range []int{10_000, 100_000} {
			b.Run(fmt.Sprintf("%s/%d", in.name, n), func(b *testing.B) {
				s, err := Bind(empty(1, n, false))
				if err != nil {
					b.Fatal(err)
				}
				next, token := make([]int64, 1), make([]int64, 1)
				for b.Loop() {
					if err := s.Reset(); err != nil {
						b.Fatal(err)
					}
					for i := range n {
						token[0] = in.token(i)
						if err := s.Step(next, token); err != nil {
							b.Fatal(err)
						}
					}
				}
				b.ReportMetric(float64(b.N)*float64(n)/b.Elapsed().Seconds()/1e6, "Mtokens/s")
			})
		}
	}
}

func BenchmarkPrefill(b *testing.B) {
	for _, in := range streams {
		for _, n := range []int{10_000, 100_000} {
			b.Run(fmt.Sprintf("%s/%d", in.name, n), func(b *testing.B) {
				s, err := Bind(empty(1, n, false))
				if err != nil {
					b.Fatal(err)
				}
				next, tokens := make([]int64, n), make([]int64, n)
				for i := range tokens {
					tokens[i] = in.token(i)
				}
				for b.Loop() {
					if err := s.Reset(); err != nil {
						b.Fatal(err)
					}
					if err := s.Prefill(next, tokens); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.N)*float64(n)/b.Elapsed().Seconds()/1e6, "Mtokens/s")
			})
		}
	}
}

func BenchmarkCandidates(b *testing.B) {
	for _, in := range streams {
		for _, kr := range [][2]int{{1, 1}, {16, 4}} {
			const n = 10_000
			b.Run(fmt.Sprintf("%s/K%dR%d", in.name, kr[0], kr[1]), func(b *testing.B) {
				s, err := BindCandidates(emptyCandidates(1, n, kr[0], kr[1], false))
				if err != nil {
					b.Fatal(err)
				}
				out := rosa.NewCandidateRows(1, kr[0]*kr[1])
				token := make([]int64, 1)
				for b.Loop() {
					if err := s.Reset(); err != nil {
						b.Fatal(err)
					}
					for i := range n {
						token[0] = in.token(i)
						if err := s.Step(&out, token); err != nil {
							b.Fatal(err)
						}
					}
				}
				b.ReportMetric(float64(b.N)*float64(n)/b.Elapsed().Seconds()/1e6, "Mtokens/s")
			})
		}
	}
}
