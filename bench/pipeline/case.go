package main

import "time"

// The two sides, by the names in the report.
const (
	ours   = "Rosaline"
	theirs = "tenshift-core"
)

// What the sides do in the cases of the same name.
const (
	batchSize    = 32
	consumerTime = 500 * time.Microsecond // a batch
	sourceTime   = 10 * time.Millisecond  // an element
)

// bench is a case: what both sides do, and what we want of it.
type bench struct {
	name    string // its word in the protocol
	title   string
	workers []int
	n       int  // samples of the data set
	first   bool // only the first of them is taken
	goal    goal
	show    func(bench, float64) string // a time in seconds, as its row shows it
}

// taken is how many samples an answer must count.
func (b bench) taken() int {
	if b.first {
		return 1
	}
	return b.n
}

// consumed is what the slow consumer alone takes.
func (b bench) consumed() time.Duration {
	return time.Duration((b.n+batchSize-1)/batchSize) * consumerTime
}

// benches are all cases, in the order of the table.
func benches() []bench {
	both := []int{1, 2}
	return []bench{
		{"passthrough", "memory, unbatched", both, 200_000, false, faster(50), rate},
		{"map", "identity map, unbatched", both, 200_000, false, faster(50), rate},
		{"batch", "batch of 32, collated", both, 400_000, false, faster(4), rate},
		{"shuffle", "shuffle of 1000, batch of 32, collated", both, 400_000, false, faster(4), rate},
		{"jsonl", "JSONL, x and label parsed, batch of 32", both, 200_000, false, faster(4), rate},
		{"jsonl-tree", "the same, theirs parsed to a tree of values", both, 200_000, false, faster(4), rate},
		{"cpu", "map of 22 µs, batch of 32", both, 20_000, false, scales(1.85), rate},
		{"consumer", "batch of 32, collated; the consumer takes 500 µs", both, 64_000, false, over(0.05), excess},
		{"latency", "first of a source that takes 10 ms an element", both, 200, true, within(25 * time.Millisecond), latency},
	}
}

// shrunk is the case with 1/by of its samples, but not so few that nothing is left to see.
func (b bench) shrunk(by int) bench {
	b.n = max(b.n/by, min(b.n, 2_000))
	return b
}
