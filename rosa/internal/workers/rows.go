package workers

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// Panic is the error of an operation that panicked.
type Panic struct {
	Row   int
	Value any
	Stack []byte
}

func (p *Panic) Error() string {
	return fmt.Sprintf("row %d: panic: %v\n%s", p.Row, p.Value, p.Stack)
}

// Unwrap returns the value of the panic if it was an error.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// Rows runs operations on so many rows, on a pool that is made when first needed. The pool
// ends by Close, or with the Rows that own it. It is for one goroutine at a time.
type Rows struct {
	n, asked int
	pool     *pool
	cleanup  runtime.Cleanup
}

// New returns what runs operations on n rows, on so many threads, or as many as
// [Threads] says if it is 0.
func New(n, threads int) *Rows { return &Rows{n: n, asked: threads} }

// Each calls f with each row, on the pool if there are rows enough for it, and returns
// after the last call. On a panic, rows that did not begin are left out, and which they are
// is not said. It keeps f no longer than that, and allocates nothing but the pool.
func (r *Rows) Each(f func(row int), enough int) error {
	if r.pool == nil && r.n >= enough {
		if threads := Threads(r.asked, r.n); threads > 1 {
			r.pool = newPool(threads)
			r.cleanup = runtime.AddCleanup(r, (*pool).close, r.pool)
		}
	}
	if r.pool == nil || r.n < enough {
		return serial(f, r.n)
	}
	defer runtime.KeepAlive(r)
	return r.pool.run(f, r.n)
}

// Threads returns how many threads there are now, the caller's included.
func (r *Rows) Threads() int {
	if r.pool == nil {
		return 1
	}
	return len(r.pool.lanes)
}

// Close ends the pool and waits for its goroutines.
func (r *Rows) Close() {
	if r.pool != nil {
		r.cleanup.Stop()
		r.pool.close()
		r.pool.ended.Wait()
		r.pool = nil
	}
}

func serial(f func(row int), n int) (err error) {
	row := 0
	defer func() {
		if v := recover(); v != nil {
			err = &Panic{row, v, debug.Stack()}
		}
	}()
	for ; row < n; row++ {
		f(row)
	}
	return nil
}
