package gpu

import (
	"errors"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/rosaline-go/rosaline/internal/cudashim"
	"github.com/rosaline-go/rosaline/stringtensor"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// needDevice skips a test where there is no device, and says why. Where there has to be one it
// fails instead; so it does when a driver is there and cannot be used.
func needDevice(t testing.TB) {
	_, err := Devices()
	if errors.Is(err, ErrNoDevice) && os.Getenv("ROSALINE_NEED_DEVICE") == "" {
		t.Skip(err)
	}
	require.NoError(t, err)
}

// device returns the engine of the first device until the test ends.
func device(t testing.TB) *Engine {
	needDevice(t)
	e, err := Open(0)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	return e
}

func column(t testing.TB, rows ...string) *stringtensor.Column {
	c, err := stringtensor.FromStrings(rows)
	require.NoError(t, err)
	return c
}

// TestNoDevice: where there is none, all ways to one say so, and why.
func TestNoDevice(t *testing.T) {
	status := cudashim.Status()
	if status == nil {
		t.Skip("there is one")
	}
	_, err := Devices()
	require.ErrorContains(t, err, status.Error())
	_, again := Open(0)
	require.EqualError(t, again, err.Error())
	_, err = openDriver(Device{})
	require.Error(t, err)
}

// TestUsable: only absence is absence.
func TestUsable(t *testing.T) {
	require.NoError(t, usable(nil))
	for _, status := range []error{cudashim.ErrNotBuilt, cudashim.ErrNoDriver, cudashim.ErrNoDevice} {
		require.ErrorIs(t, usable(status), ErrNoDevice)
		require.NotErrorIs(t, usable(status), ErrDriver)
		require.ErrorContains(t, usable(status), status.Error())
	}
	for _, status := range []error{cudashim.ErrBrokenDriver, cudashim.ErrInitFailed, cudashim.ErrDriverTooOld} {
		require.ErrorIs(t, usable(status), ErrDriver)
		require.NotErrorIs(t, usable(status), ErrNoDevice)
		require.ErrorContains(t, usable(status), status.Error())
	}
}

func TestDevices(t *testing.T) {
	needDevice(t)
	list, err := Devices()
	require.NoError(t, err)
	require.NotEmpty(t, list)
	for i, d := range list {
		t.Log(d)
		require.Equal(t, i, d.Ordinal)
		require.NotEmpty(t, d.Name)
		require.Positive(t, d.Memory)
		require.Positive(t, d.Multiprocessors)
	}
	for _, ordinal := range []int{-1, len(list)} {
		_, err := Open(ordinal)
		require.ErrorIs(t, err, ErrNoDevice)
	}
}

func TestDeviceString(t *testing.T) {
	d := Device{Ordinal: 1, Name: "Some GPU", Memory: 3 << 29, Major: 9, Minor: 0, Multiprocessors: 132}
	require.Equal(t, "1: Some GPU, compute capability 9.0, 132 multiprocessors, 1.5 GiB", d.String())
}

// TestOneEngine: a device has one engine, and after its end another.
func TestOneEngine(t *testing.T) {
	e := device(t)
	_, err := Open(0)
	require.ErrorIs(t, err, ErrInUse)
	require.NoError(t, e.Close())
	require.NoError(t, e.Close())
	f, err := Open(0)
	require.NoError(t, err)
	require.Equal(t, e.Device(), f.Device())
	require.NoError(t, f.Close())
}

// TestClosed: what is used after Close says so; Close frees what was left.
func TestClosed(t *testing.T) {
	e := device(t)
	d, err := e.Upload(column(t, "rose", "rosaline"))
	require.NoError(t, err)
	s, err := d.WherePrefix("rosa")
	require.NoError(t, err)
	require.NoError(t, e.Close())

	_, err = e.Upload(column(t, "rose"))
	require.ErrorIs(t, err, ErrClosed)
	_, err = d.WherePrefix("rosa")
	require.ErrorIs(t, err, ErrClosed)
	_, err = d.WhereEqual("longer than the payload")
	require.ErrorIs(t, err, ErrClosed)
	_, err = s.Fetch()
	require.ErrorIs(t, err, ErrClosed)
	require.NoError(t, s.Release())
	require.NoError(t, d.Release())
}

func TestReleased(t *testing.T) {
	e := device(t)
	d, err := e.Upload(column(t, "rose", "rosaline"))
	require.NoError(t, err)
	require.Same(t, e, d.Engine())
	s, err := d.WherePrefix("rosa")
	require.NoError(t, err)
	require.NoError(t, d.Release())
	require.NoError(t, d.Release())
	_, err = d.WherePrefix("rosa")
	require.ErrorIs(t, err, ErrReleased)
	_, err = d.WherePrefix("longer than the payload")
	require.ErrorIs(t, err, ErrReleased)

	got, err := s.Fetch() // a selection lives on its own
	require.NoError(t, err)
	require.Equal(t, stringtensor.Selection{1}, got)
	require.NoError(t, s.Release())
	require.NoError(t, s.Release())
	_, err = s.Fetch()
	require.ErrorIs(t, err, ErrReleased)
	require.Empty(t, e.regions)
	require.Empty(t, e.pinned)
}

// TestConcurrent: many goroutines share an engine and a column, and have columns of their own.
func TestConcurrent(t *testing.T) {
	e := device(t)
	rows := make([]string, 300)
	for i := range rows {
		rows[i] = []string{"rose", "rosaline", "line", ""}[i%4]
	}
	c := column(t, rows...)
	shared, err := e.Upload(c)
	require.NoError(t, err)
	want := c.WhereContains("line")
	var wait sync.WaitGroup
	for range 64 {
		wait.Go(func() {
			own, err := e.Upload(c)
			if err != nil {
				t.Error(err)
				return
			}
			for _, d := range []*Column{shared, own} {
				s, err := d.WhereContains("line")
				if err != nil {
					t.Error(err)
					return
				}
				got, err := s.Fetch()
				if err = errors.Join(err, s.Release()); err != nil {
					t.Error(err)
				}
				if len(got) != len(want) || got[0] != want[0] || got[len(got)-1] != want[len(want)-1] {
					t.Error("another selection")
				}
			}
			if err := own.Release(); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	require.NoError(t, shared.Release())
	require.Empty(t, e.regions)
	require.Empty(t, e.pinned)
}

// TestCloseWaits: Close among operations comes between them.
func TestCloseWaits(t *testing.T) {
	e := device(t)
	c := column(t, "rose", "rosaline")
	var started, wait sync.WaitGroup
	for range 8 {
		started.Add(1)
		wait.Go(func() {
			for n := 0; ; n++ {
				if n == 2 {
					started.Done()
				}
				d, err := e.Upload(c)
				if errors.Is(err, ErrClosed) {
					return
				}
				if err != nil {
					panic(err) // the others would wait for this one to start
				}
				_, err = d.WherePrefix("rose")
				if err != nil && !errors.Is(err, ErrClosed) {
					panic(err)
				}
			}
		})
	}
	started.Wait() // all are at it
	require.NoError(t, e.Close())
	wait.Wait()
}
