package gpu

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

var errFault = errors.New("fault of a test")

// faulty is a driver whose n-th call fails, counted from 0, or all from that on.
type faulty struct {
	driver
	n, calls int
	lasting  bool
}

func (f *faulty) fails(call string) error {
	n := f.calls
	f.calls++
	if n == f.n || f.lasting && n > f.n {
		return fmt.Errorf("%w: %s", errFault, call)
	}
	return nil
}

func (f *faulty) alloc(bytes int64) (address, error) {
	if err := f.fails("alloc"); err != nil {
		return 0, err
	}
	return f.driver.alloc(bytes)
}

func (f *faulty) pin(bytes int) ([]byte, error) {
	if err := f.fails("pin"); err != nil {
		return nil, err
	}
	return f.driver.pin(bytes)
}

func (f *faulty) upload(to address, from []byte) error {
	return errors.Join(f.fails("upload"), f.driver.upload(to, from))
}

func (f *faulty) download(to []byte, from address) error {
	return errors.Join(f.fails("download"), f.driver.download(to, from))
}

func (f *faulty) clear(to address, words int) error {
	if err := f.fails("clear"); err != nil {
		return err
	}
	return f.driver.clear(to, words)
}

func (f *faulty) launch(k kernel, blocks int, parameters ...uint64) error {
	if err := f.fails("launch"); err != nil {
		return err
	}
	return f.driver.launch(k, blocks, parameters...)
}

func (f *faulty) synchronize() error {
	if err := f.fails("synchronize"); err != nil {
		return err
	}
	return f.driver.synchronize()
}

// closing lets the driver work again, so that an engine can be seen to give all back.
func (f *faulty) closing() { f.n, f.lasting = -1, false }

// job is the whole of what a column can go through.
func job(t *testing.T, e *Engine) error {
	d, err := e.Upload(column(t, "rose", "rosaline", "line"))
	if err != nil {
		return err
	}
	s, err := d.WhereContains("line")
	if err != nil {
		return errors.Join(err, d.Release())
	}
	got, err := s.Fetch()
	if err == nil {
		require.Len(t, got, 2)
	}
	return errors.Join(err, s.Release(), d.Release())
}

// TestFaults: each call of the driver fails in its turn, once or for good. The error comes out,
// nothing hangs, and after Close nothing is left, which the emulated driver would not forgive.
// Unless it was a wait that failed, the engine goes on.
func TestFaults(t *testing.T) {
	needDevice(t)
	for _, lasting := range []bool{false, true} {
		for n, more := 0, true; more; n++ {
			f := &faulty{n: n, lasting: lasting}
			e, err := open(0, func(d Device) (driver, error) {
				var err error
				f.driver, err = openDriver(d)
				return f, err
			})
			require.NoError(t, err)
			err = job(t, e)
			if err == nil {
				require.LessOrEqual(t, f.calls, n)
				more = false
			} else {
				require.ErrorIs(t, err, errFault)
				if !lasting {
					again := job(t, e)
					if e.failed == nil {
						require.NoError(t, again, "after %v", err)
						require.Empty(t, e.regions)
						require.Empty(t, e.pinned)
					} else {
						require.ErrorIs(t, again, errFault)
					}
				}
			}
			f.closing()
			require.NoError(t, e.Close())
		}
	}
}

// TestOpenFails: an engine that does not open leaves the device free.
func TestOpenFails(t *testing.T) {
	needDevice(t)
	_, err := open(0, func(Device) (driver, error) { return nil, errFault })
	require.ErrorIs(t, err, errFault)
	e, err := Open(0)
	require.NoError(t, err)
	require.NoError(t, e.Close())
}

// TestOutOfMemory: the device cannot hold it, and is none the worse.
func TestOutOfMemory(t *testing.T) {
	e := device(t)
	var at address
	err := e.do(func() (err error) {
		at, err = e.alloc(e.device.Memory + 1)
		return err
	})
	require.ErrorIs(t, err, ErrOutOfMemory)
	require.Zero(t, at)
	require.NoError(t, job(t, e))
}
