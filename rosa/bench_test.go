package rosa

import (
	"fmt"
	"math/bits"
	"os"
	"testing"
)

// streams are inputs of all kinds, of n tokens each.
var streams = []struct {
	name  string
	token func(n int) func(i int) int64
}{
	{"bytes", random(256)}, {"4-bit", random(16)}, {"1-bit", random(2)}, {"text", text},
	{"period", func(int) func(int) int64 { return func(i int) int64 { return int64(i * i % 16) } }},
	{"fibonacci", fibonacci},
	{"thue-morse", func(int) func(int) int64 { return func(i int) int64 { return int64(bits.OnesCount(uint(i)) & 1) } }},
	{"unary", func(int) func(int) int64 { return func(int) int64 { return 0 } }},
	{"ids", func(n int) func(int) int64 {
		f := random(65536)(n)
		return func(i int) int64 { return f(i) + 256 }
	}},
	// a^k c_j: with leaves that are added to nodes and not by splits.
	{"comb", func(n int) func(int) int64 {
		k := 1
		for k*k < n {
			k++
		}
		return func(i int) int64 { return int64(max(0, i%k-k+2) * (1 + i/k%250)) }
	}},
}

func random(k uint64) func(int) func(int) int64 {
	return func(int) func(int) int64 {
		r := splitmix64(1)
		return func(int) int64 { return int64(r.below(k)) }
	}
}

func fibonacci(n int) func(int) int64 {
	a, b := []int64{0}, []int64{0, 1}
	for len(b) < n {
		a, b = b, append(b[:len(b):len(b)], a...)
	}
	return func(i int) int64 { return b[i] }
}

// text is English prose and what is around it: the corpus of the examples.
func text(n int) func(int) int64 {
	b, err := os.ReadFile("../examples/corpus/part-02.jsonl")
	if err != nil {
		panic(err)
	}
	return func(i int) int64 { return int64(b[i%len(b)]) }
}

func BenchmarkStep(b *testing.B) { benchmarkSteps(b) }

func BenchmarkBoundedStep(b *testing.B) { benchmarkSteps(b, WithBoundedSteps()) }

func benchmarkSteps(b *testing.B, opts ...StateOption) {
	for _, in := range streams {
		for _, n := range []int{10_000, 100_000, 1_000_000} {
			b.Run(fmt.Sprintf("%s/%d", in.name, n), func(b *testing.B) {
				f := in.token(n)
				x := make([]int64, n)
				for i := range x {
					x[i] = f(i)
				}
				bytes := 0
				for b.Loop() {
					s := NewState(opts...)
					for _, token := range x {
						if _, err := s.Step(token); err != nil {
							b.Fatal(err)
						}
					}
					bytes = s.Bytes()
				}
				b.ReportMetric(float64(b.N)*float64(n)/b.Elapsed().Seconds()/1e6, "Mtokens/s")
				b.ReportMetric(float64(bytes)/float64(n), "B/token")
			})
		}
	}
}
