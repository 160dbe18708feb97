package stringtensor

import (
	"fmt"
	"sync"
	"unsafe"

	arrowmem "github.com/apache/arrow-go/v18/arrow/memory"
)

// ipcAllocator is the memory an IPC reader gives to the Arrow library. It bounds
// what one message may take, and remembers what was taken for it: when the
// library panics half-way through corrupt bytes, nothing else knows that memory.
type ipcAllocator struct {
	mem   arrowmem.Allocator
	limit int64

	mu   sync.Mutex       // batches are released by any goroutine
	used int64            // by this message
	live map[*byte][]byte // taken in this call and not freed
}

var _ arrowmem.Allocator = (*ipcAllocator)(nil)

// begin starts a call into the library. What was taken before has found its
// owner.
func (a *ipcAllocator) begin() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.used, a.live = 0, make(map[*byte][]byte)
}

// message starts the account of the next message of the call.
func (a *ipcAllocator) message() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.used = 0
}

// abort frees what was taken since begin and is still there.
func (a *ipcAllocator) abort() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, b := range a.live {
		a.mem.Free(b)
	}
	a.live = nil
}

// spend accounts for n more bytes. Its panic ends up as an error of the call
// into the Arrow library.
func (a *ipcAllocator) spend(n int64) {
	if n < 0 || a.used+n > a.limit {
		panic(fmt.Errorf("%w: %d bytes and %d more, the limit is %d", ErrMessageTooLarge, a.used, n, a.limit))
	}
	a.used += n
}

func (a *ipcAllocator) note(b []byte) {
	if a.live != nil && len(b) > 0 {
		a.live[unsafe.SliceData(b)] = b
	}
}

// Allocate returns size bytes.
func (a *ipcAllocator) Allocate(size int) []byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.spend(int64(size))
	b := a.mem.Allocate(size)
	a.note(b)
	return b
}

// Reallocate returns b with another size.
func (a *ipcAllocator) Reallocate(size int, b []byte) []byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	if size < 0 {
		a.spend(int64(size))
	}
	a.spend(max(int64(size)-int64(len(b)), 0))
	if len(b) > 0 {
		delete(a.live, unsafe.SliceData(b))
	}
	c := a.mem.Reallocate(size, b)
	a.note(c)
	return c
}

// Free gives b back.
func (a *ipcAllocator) Free(b []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(b) > 0 {
		delete(a.live, unsafe.SliceData(b))
	}
	a.mem.Free(b)
}
