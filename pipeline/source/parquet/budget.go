package parquet

import (
	"fmt"
	"sync"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/rosaline-go/rosaline/pipeline/source"
)

// budget is the memory that one call into the library may take. What a page claims is known
// to the library; what its values add up to, for example those of a dictionary, to
// nobody before they are there.
type budget struct {
	memory.Allocator
	limit int64

	mu   sync.Mutex
	used int64
}

func newBudget(limit int64) *budget {
	return &budget{Allocator: memory.DefaultAllocator, limit: limit}
}

// begin begins a call.
func (b *budget) begin() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used = 0
}

// spend accounts for n more bytes. Its panic becomes an error of the call.
func (b *budget) spend(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n < 0 || b.used+n > b.limit {
		panic(fmt.Errorf("%w: %d bytes and %d more, the cap is %d; raise it by WithMaxBlock", source.ErrBlock, b.used, n, b.limit))
	}
	b.used += n
}

// Allocate implements [memory.Allocator].
func (b *budget) Allocate(size int) []byte {
	b.spend(int64(size))
	return b.Allocator.Allocate(size)
}

// Reallocate implements [memory.Allocator].
func (b *budget) Reallocate(size int, old []byte) []byte {
	b.spend(max(int64(size)-int64(len(old)), 0))
	return b.Allocator.Reallocate(size, old)
}

// Free implements [memory.Allocator].
func (b *budget) Free(old []byte) {
	b.mu.Lock()
	b.used = max(b.used-int64(len(old)), 0)
	b.mu.Unlock()
	b.Allocator.Free(old)
}
