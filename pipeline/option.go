package pipeline

import "time"

// with returns the plan with another option.
func (p *Pipeline[T]) with(set func(*config)) *Pipeline[T] {
	out := p.plan
	set(&out.cfg)
	return &Pipeline[T]{out}
}

// Workers sets how many elements are worked on at once, up to 65,536; the default is
// the number of CPUs, at most 8. 0 is 1.
func (p *Pipeline[T]) Workers(n int) *Pipeline[T] {
	return p.with(func(c *config) { c.workers = n })
}

// Prefetch sets how many chunks of ChunkSize elements may be between the source and
// the consumer, those being worked on and what the consumer has not yet asked for included. What
// a stage holds, like a shuffle buffer or a batch that is not full, does not count until it
// leaves; the source then waits until there is room again. The default is twice the
// number of CPUs, at least 8; 0 is 1. At most 2²⁰ chunks and 2³⁰ elements are allowed.
func (p *Pipeline[T]) Prefetch(n int) *Pipeline[T] {
	return p.with(func(c *config) { c.prefetch = n })
}

// PrefetchBytes bounds the size of what is between the source and the consumer as
// well, as the elements are when they come from the source. An element that is
// larger passes alone. The source has one more in hand, whose size has to be seen. 0, the
// default, is no bound.
func (p *Pipeline[T]) PrefetchBytes(n int64) *Pipeline[T] {
	return p.with(func(c *config) { c.prefetchBytes = n })
}

// ChunkSize sets how many elements go from one goroutine to the next together, up to
// 2²⁰; the default is 64. Elements of much work each want a small one. 0 is 1.
func (p *Pipeline[T]) ChunkSize(n int) *Pipeline[T] {
	return p.with(func(c *config) { c.chunk = n })
}

// FlushAfter sets how long an element waits for others to fill its chunk; the
// default is 10 ms, and 0 does not wait.
func (p *Pipeline[T]) FlushAfter(d time.Duration) *Pipeline[T] {
	return p.with(func(c *config) { c.flushAfter = d })
}

// Seed sets what random choices derive from; the default is 0, a seed like others.
func (p *Pipeline[T]) Seed(seed uint64) *Pipeline[T] {
	return p.with(func(c *config) { c.seed = seed })
}

// Epochs sets how often the source is gone through; the default is 1, and 0 is
// endless.
func (p *Pipeline[T]) Epochs(n int64) *Pipeline[T] {
	return p.with(func(c *config) { c.epochs = n })
}

// OnError sets what an error about one element does; the default is [Fail].
func (p *Pipeline[T]) OnError(policy Policy) *Pipeline[T] {
	return p.with(func(c *config) { c.policy = policy })
}

// ErrorSink is told of each element that was left out under [Skip], one at a time,
// in no order. A panic in it ends the stream.
func (p *Pipeline[T]) ErrorSink(f func(*StageError)) *Pipeline[T] {
	return p.with(func(c *config) { c.errorSink = f })
}

// MaxErrorsInRow sets after how many errors of a stage, with no element in between
// that passed, the stream ends under [Skip]; the default is 10,000, the least 1.
func (p *Pipeline[T]) MaxErrorsInRow(n int) *Pipeline[T] {
	return p.with(func(c *config) { c.maxErrorsInRow = n })
}

// SourceTimeout ends the stream with [ErrSourceTimeout] when the source takes
// longer for one element; 0, the default, is never.
func (p *Pipeline[T]) SourceTimeout(d time.Duration) *Pipeline[T] {
	return p.with(func(c *config) { c.sourceTimeout = d })
}

// StallTimeout lets Next return [ErrStalled] when nothing has come for so long; 0,
// the default, is never. Nothing is left out: Next may be called again.
func (p *Pipeline[T]) StallTimeout(d time.Duration) *Pipeline[T] {
	return p.with(func(c *config) { c.stallTimeout = d })
}

// CloseTimeout sets how long Close waits for functions of the user; the default is
// 10 s, and 0 does not wait.
func (p *Pipeline[T]) CloseTimeout(d time.Duration) *Pipeline[T] {
	return p.with(func(c *config) { c.closeTimeout = d })
}

// PinThreads binds each worker to a thread, and that to a CPU, where the system
// can do that (Linux).
func (p *Pipeline[T]) PinThreads() *Pipeline[T] {
	return p.with(func(c *config) { c.pinThreads = true })
}

// Unordered lets chunks overtake each other: elements come as they are ready. Epochs
// are still kept apart. Such a stream has no State.
func (p *Pipeline[T]) Unordered() *Pipeline[T] {
	return p.with(func(c *config) { c.unordered = true })
}

// HoldOnError keeps back what stages hold, like a shuffle buffer, when the stream ends by an
// error: what is delivered is then the begin of what it would have been without the error, and
// the rest belongs to what State resumes. Otherwise all of it comes before the error.
func (p *Pipeline[T]) HoldOnError() *Pipeline[T] {
	return p.with(func(c *config) { c.holdOnError = true })
}

// Shard lets the pipeline see one rank's part of the source, see [Sharding]; the mode
// is that of ShardMode.
func (p *Pipeline[T]) Shard(rank, world int) *Pipeline[T] {
	return p.with(func(c *config) {
		s := Sharding{Rank: rank, World: world}
		if c.sharding != nil {
			s.Mode = c.sharding.Mode
		}
		c.sharding, c.sharded = &s, true
	})
}

// ShardMode sets what happens when ranks differ in length; the default is [Uneven].
func (p *Pipeline[T]) ShardMode(m ShardMode) *Pipeline[T] {
	return p.with(func(c *config) {
		s := Sharding{World: 1}
		if c.sharding != nil {
			s = *c.sharding
		}
		s.Mode = m
		c.sharding = &s
	})
}

// ShardFiles gives each rank files of its own, so that none reads what belongs to
// another. The source must be a [FileSharder], for [Pad] and [Drop] also a [Counter].
func (p *Pipeline[T]) ShardFiles() *Pipeline[T] {
	return p.with(func(c *config) { c.byFile = true })
}

// CanonicalShards makes the order independent of the number of ranks: elements
// are shuffled within n shards, whatever number of ranks they are shared by; n must divide by
// that. The elements of all ranks together, in the order of the rounds, are then the
// same for each number of ranks. Before Shuffle only stages may come that run on the
// workers; one that changes how many elements there are, like Filter, leaves the order of
// each shard, but shifts their rounds. n is from 0 to 1024; each shard has a buffer, and some
// 20 bytes of each state. 0, the default, shuffles within the rank.
func (p *Pipeline[T]) CanonicalShards(n int) *Pipeline[T] {
	return p.with(func(c *config) { c.canonical = n })
}
