package gpu

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
)

// Engine is the use of one device: a goroutine on an operating system thread of its own that
// has the context and makes every call, one after the other. Open one for each device and share
// it; all methods may be called at once.
type Engine struct {
	device Device
	calls  chan func()
	ended  chan struct{}

	// Held for reading during each operation, so that Close comes between operations.
	using  sync.RWMutex
	closed bool

	// Only the goroutine of the engine touches these.
	driver  driver
	failed  error                // of a synchronize: what is on the device is unknown
	regions map[address]struct{} // memory that is taken and not given back
	pinned  map[*byte][]byte
}

var (
	enginesLock sync.Mutex
	engines     = map[int]bool{} // the ordinals of devices that have one
)

// Open returns the engine of a device, by its ordinal. It loads the kernels, which takes a
// second where the driver has to compile them. The errors are [ErrNoDevice], [ErrDriver],
// [ErrInUse], [ErrOutOfMemory] and [ErrDevice].
func Open(ordinal int) (*Engine, error) {
	return open(ordinal, openDriver)
}

func open(ordinal int, with func(Device) (driver, error)) (*Engine, error) {
	list, err := Devices()
	if err != nil {
		return nil, err
	}
	if ordinal < 0 || ordinal >= len(list) {
		return nil, fmt.Errorf("%w: number %d, there are %d, counted from 0", ErrNoDevice, ordinal, len(list))
	}
	d := list[ordinal]
	if d.Major < leastMajor {
		return nil, fmt.Errorf("%w: %s is too old, compute capability %d.0 is needed", ErrNoDevice, d, leastMajor)
	}
	enginesLock.Lock()
	defer enginesLock.Unlock()
	if engines[ordinal] {
		return nil, fmt.Errorf("%w: %s", ErrInUse, d)
	}
	e := &Engine{
		device: d, calls: make(chan func()), ended: make(chan struct{}),
		regions: map[address]struct{}{}, pinned: map[*byte][]byte{},
	}
	opened := make(chan error)
	go e.run(with, opened)
	if err := <-opened; err != nil {
		<-e.ended
		return nil, err
	}
	engines[ordinal] = true
	return e, nil
}

// run is the goroutine of the engine. The thread is never unlocked, so it ends with the
// goroutine, and nobody else gets one that has a context.
func (e *Engine) run(with func(Device) (driver, error), opened chan<- error) {
	runtime.LockOSThread()
	defer close(e.ended)
	var err error
	e.driver, err = with(e.device)
	opened <- err
	if err != nil {
		return
	}
	for f := range e.calls {
		f()
	}
}

// Device returns the facts of the device.
func (e *Engine) Device() Device { return e.device }

// use keeps the engine open until the function that it returns is called. The error is
// [ErrClosed].
func (e *Engine) use() (end func(), err error) {
	e.using.RLock()
	if e.closed {
		e.using.RUnlock()
		return nil, ErrClosed
	}
	return e.using.RUnlock, nil
}

// do runs f on the goroutine of the engine, which is in use. After a failure of the device it
// returns that.
func (e *Engine) do(f func() error) error {
	done := make(chan error, 1)
	e.calls <- func() {
		if e.failed != nil {
			done <- e.failed
			return
		}
		done <- f()
	}
	return <-done
}

// Close waits for operations that run, frees what is on the device, also columns and selections
// that were not released, and ends the engine. A second call does nothing. The error is
// [ErrDevice], from a device that has failed; the engine is closed all the same.
func (e *Engine) Close() error {
	e.using.Lock()
	defer e.using.Unlock()
	if e.closed {
		return nil
	}
	e.closed = true
	done := make(chan error, 1)
	e.calls <- func() { done <- e.end() }
	err := <-done
	close(e.calls)
	<-e.ended
	enginesLock.Lock()
	delete(engines, e.device.Ordinal)
	enginesLock.Unlock()
	return err
}

func (e *Engine) end() error {
	errs := []error{e.driver.synchronize()}
	for at := range e.regions {
		errs = append(errs, e.free(at))
	}
	for _, m := range e.pinned {
		errs = append(errs, e.unpin(m))
	}
	return errors.Join(append(errs, e.driver.close())...)
}

// The functions below run on the goroutine of the engine.

func (e *Engine) alloc(bytes int64) (address, error) {
	at, err := e.driver.alloc(bytes)
	if err == nil {
		e.regions[at] = struct{}{}
	}
	return at, err
}

// free frees a region that no work on the stream needs. 0 is none.
func (e *Engine) free(at address) error {
	if at == 0 {
		return nil
	}
	err := e.driver.free(at)
	if err == nil {
		delete(e.regions, at)
	}
	return err
}

func (e *Engine) pin(bytes int) ([]byte, error) {
	m, err := e.driver.pin(bytes)
	if err == nil {
		e.pinned[&m[0]] = m
	}
	return m, err
}

func (e *Engine) unpin(m []byte) error {
	if m == nil {
		return nil
	}
	err := e.driver.unpin(m)
	if err == nil {
		delete(e.pinned, &m[0])
	}
	return err
}

// synchronize waits for the stream. When that fails nobody knows what still runs, so memory
// is not freed before Close.
func (e *Engine) synchronize() error {
	if e.failed == nil {
		e.failed = e.driver.synchronize()
	}
	return e.failed
}
