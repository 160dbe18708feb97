package pipeline

import (
	"fmt"
	"time"
)

// config is how a pipeline runs.
type config struct {
	workers, prefetch, chunk int
	prefetchBytes            int64
	seed                     uint64
	epochs                   int64
	policy                   Policy
	errorSink                func(*StageError)
	maxErrorsInRow           int
	sourceTimeout            time.Duration
	stallTimeout             time.Duration
	closeTimeout             time.Duration
	flushAfter               time.Duration
	pinThreads               bool
	unordered                bool
	dropLast                 bool
	straddle                 bool
	holdOnError              bool
	sharding                 *Sharding
	sharded                  bool // Shard was called
	byFile                   bool
	canonical                int
	canShardFiles, isAsync   bool // what the source is
	autotune                 *autotune
}

// defaultErrorsInRow is how many errors in a row end a stream.
const defaultErrorsInRow = 10_000

func defaultConfig() config {
	return config{
		workers: defaultWorkers(), prefetch: defaultPrefetch(), chunk: 64, epochs: 1,
		maxErrorsInRow: defaultErrorsInRow, closeTimeout: 10 * time.Second, flushAfter: 10 * time.Millisecond,
	}
}

// validate lists what is wrong, and makes 1 of the zeros that mean as little as
// possible.
func (c *config) validate() []string {
	var wrong []string
	for _, o := range []struct {
		name string
		n    *int
	}{{"Workers", &c.workers}, {"Prefetch", &c.prefetch}, {"ChunkSize", &c.chunk}} {
		if *o.n < 0 {
			wrong = append(wrong, fmt.Sprintf("%s(%d) is negative", o.name, *o.n))
		}
		*o.n = max(*o.n, 1)
	}
	tuned := 0
	if c.autotune != nil {
		tuned = c.autotune.workers
	}
	for _, o := range []struct {
		name string
		n    int
		most int
	}{{"Workers", c.workers, 1 << 16}, {"Prefetch", c.prefetch, 1 << 20}, {"ChunkSize", c.chunk, 1 << 20}, {"Autotune", tuned, 1 << 16}} {
		if o.n > o.most {
			wrong = append(wrong, fmt.Sprintf("%s(%d) is over %d", o.name, o.n, o.most))
		}
	}
	c.prefetch = min(c.prefetch, 1<<30/c.chunk)
	if c.prefetchBytes < 0 {
		wrong = append(wrong, fmt.Sprintf("PrefetchBytes(%d) is negative", c.prefetchBytes))
	}
	if c.epochs < 0 {
		wrong = append(wrong, fmt.Sprintf("Epochs(%d) is negative; 0 is endless", c.epochs))
	}
	if c.maxErrorsInRow < 1 {
		wrong = append(wrong, fmt.Sprintf("MaxErrorsInRow(%d) is not at least 1", c.maxErrorsInRow))
	}
	if c.policy != Fail && c.policy != Skip {
		wrong = append(wrong, fmt.Sprintf("OnError(%v) is neither Fail nor Skip", c.policy))
	}
	for _, o := range []struct {
		name string
		d    time.Duration
	}{{"SourceTimeout", c.sourceTimeout}, {"StallTimeout", c.stallTimeout}, {"CloseTimeout", c.closeTimeout}, {"FlushAfter", c.flushAfter}} {
		if o.d < 0 {
			wrong = append(wrong, fmt.Sprintf("%s(%v) is negative", o.name, o.d))
		}
	}
	return append(wrong, c.validateSharding()...)
}

// maxCanonical is the most canonical shards: each costs a buffer, and counts in each
// state.
const maxCanonical = 1024

func (c *config) validateSharding() []string {
	var wrong []string
	world := 1
	if c.sharding != nil {
		world = c.sharding.World
		switch s := *c.sharding; {
		case s.World < 1:
			wrong = append(wrong, fmt.Sprintf("Shard(%d, %d): the world needs at least one rank", s.Rank, s.World))
		case s.Rank < 0 || s.Rank >= s.World:
			wrong = append(wrong, fmt.Sprintf("Shard(%d, %d): ranks go from 0 to %d", s.Rank, s.World, s.World-1))
		}
		if c.sharding.Mode >= shardModeCount {
			wrong = append(wrong, fmt.Sprintf("ShardMode(%v) is none of Uneven, Pad and Drop", c.sharding.Mode))
		}
	}
	switch {
	case c.canonical < 0 || c.canonical > maxCanonical:
		wrong = append(wrong, fmt.Sprintf("CanonicalShards(%d) is not from 0 to %d", c.canonical, maxCanonical))
	case c.canonical > 0 && world >= 1 && c.canonical%world != 0:
		wrong = append(wrong, fmt.Sprintf("CanonicalShards(%d) does not divide by the %d ranks", c.canonical, world))
	case c.canonical > 0 && c.byFile:
		wrong = append(wrong, "CanonicalShards needs shards by record, not ShardFiles")
	}
	return wrong
}

// rank is that of the shard.
func (c *config) rank() int {
	if c.sharding == nil {
		return 0
	}
	return c.sharding.Rank
}
