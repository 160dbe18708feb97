package pipeline

import (
	"sync"
	"time"
)

// budget bounds what is between the source and the consumer. It is taken by the
// source's goroutine alone and given back by any.
type budget struct {
	mu       sync.Mutex
	limit    int // elements
	elements int
	maxBytes int64 // 0: no bound
	bytes    int64
	wake     chan struct{} // gets a token when something is given back
}

func newBudget(limit int, maxBytes int64) *budget {
	return &budget{limit: limit, maxBytes: maxBytes, wake: make(chan struct{}, 1)}
}

// takeElements takes up to n elements, at least half of that: else chunks that were once
// handed on early would stay small. 0 tells that done or over was closed.
func (b *budget) takeElements(n int, st *stage, done, over <-chan struct{}) int {
	for {
		b.mu.Lock()
		if free := b.limit - b.elements; free >= (n+1)/2 {
			n = min(n, free)
			b.elements += n
			b.mu.Unlock()
			return n
		}
		b.mu.Unlock()
		waiting := time.Now()
		select {
		case <-b.wake:
		case <-done:
			return 0
		case <-over:
			return 0
		}
		st.waitOut.Add(int64(time.Since(waiting)))
	}
}

// tryBytes takes n bytes if they are free, or if nothing else is taken: an element
// larger than the budget passes alone.
func (b *budget) tryBytes(n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.maxBytes > 0 && b.bytes > 0 && b.bytes+n > b.maxBytes {
		return false
	}
	b.bytes += n
	return true
}

// takeBytes waits for n bytes; false tells that done or over was closed.
func (b *budget) takeBytes(n int64, st *stage, done, over <-chan struct{}) bool {
	for !b.tryBytes(n) {
		waiting := time.Now()
		select {
		case <-b.wake:
		case <-done:
			return false
		case <-over:
			return false
		}
		st.waitOut.Add(int64(time.Since(waiting)))
	}
	return true
}

// give gives back what the chunk of h holds.
func (b *budget) give(h *head) {
	if h.elements == 0 && h.bytes == 0 {
		return
	}
	b.giveBack(h.elements, h.bytes)
	h.elements, h.bytes = 0, 0
}

func (b *budget) giveBack(elements int, bytes int64) {
	b.mu.Lock()
	b.elements -= elements
	b.bytes -= bytes
	b.mu.Unlock()
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// setLimit changes the bound on elements.
func (b *budget) setLimit(n int) {
	b.mu.Lock()
	b.limit = n
	b.mu.Unlock()
	b.giveBack(0, 0)
}

// inFlight tells what is taken.
func (b *budget) inFlight() (elements int, bytes int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.elements, b.bytes
}
