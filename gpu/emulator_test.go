//go:build cuda && cgo && linux

package gpu

import (
	"os"
	"os/exec"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// faults are misuses of the driver that the emulated one ends the program for, with what it
// says then.
var faults = map[string]struct {
	says string
	do   func(c *cuda) error
}{
	"leak": {"leaves 1 pieces of device memory, 1 of pinned memory", func(c *cuda) error {
		_, _ = c.alloc(1)
		_, _ = c.pin(1)
		return c.close()
	}},
	"free twice": {"was freed before", func(c *cuda) error {
		at, _ := c.alloc(1)
		_ = c.free(at)
		return c.free(at)
	}},
	"unpin what is not pinned": {"was not allocated", func(c *cuda) error { return c.unpin(make([]byte, 8)) }},
	"free under a copy": {"freed while a stream has work left", func(c *cuda) error {
		at, _ := c.alloc(8)
		m, _ := c.pin(8)
		_ = c.upload(at, m)
		return c.free(at)
	}},
	"unpin under a copy": {"freed while a stream has work left", func(c *cuda) error {
		at, _ := c.alloc(8)
		m, _ := c.pin(8)
		_ = c.upload(at, m)
		return c.unpin(m)
	}},
	"copy of Go memory": {"not pinned", func(c *cuda) error {
		at, _ := c.alloc(8)
		return c.upload(at, make([]byte, 8))
	}},
	"write before the beginning": {"wrote 1 bytes before device memory", func(c *cuda) error {
		at, _ := c.alloc(4 * 33)
		_ = c.launch(whereLength, 1, uint64(offsetsOf(c, 1)), 1, 0, 9, 0, uint64(at)-1)
		_ = c.synchronize()
		return c.free(at)
	}},
	"write past the end": {"SIGSEGV", func(c *cuda) error {
		at, _ := c.alloc(4)
		_ = c.launch(whereLength, 1, uint64(offsetsOf(c, 33)), 33, 0, 9, 0, uint64(at))
		return c.synchronize()
	}},
	"read past the end": {"SIGSEGV", func(c *cuda) error {
		at, _ := c.alloc(8)
		_ = c.launch(whereLength, 1, uint64(offsetsOf(c, 32)), 33, 0, 9, 0, uint64(at))
		return c.synchronize()
	}},
	"use after free": {"SIGSEGV", func(c *cuda) error {
		offsets := offsetsOf(c, 1)
		_ = c.synchronize()
		at, _ := c.alloc(4)
		_ = c.free(at)
		_ = c.launch(whereLength, 1, uint64(offsets), 1, 0, 9, 0, uint64(at))
		return c.synchronize()
	}},
}

// offsetsOf returns offsets of n rows on the device.
func offsetsOf(c *cuda, n int) address {
	at, _ := c.alloc(4 * int64(n+1))
	_ = c.clear(at, n+1)
	return at
}

// emulated returns the driver of the emulator on this thread, or skips.
func emulated(t *testing.T) *cuda {
	needDevice(t)
	list, err := Devices()
	require.NoError(t, err)
	if list[0].Name != "emulator" {
		t.Skip("only the emulator is as strict: ", list[0])
	}
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	d, err := openDriver(list[0])
	require.NoError(t, err)
	return d.(*cuda)
}

// TestStrict: each misuse ends a process of its own.
func TestStrict(t *testing.T) {
	if name := os.Getenv("ROSALINE_TEST_FAULT"); name != "" {
		err := faults[name].do(emulated(t))
		t.Fatalf("survived, with %v", err)
	}
	require.NoError(t, emulated(t).close())
	self, err := os.Executable()
	require.NoError(t, err)
	for name, f := range faults {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(self, "-test.run", "^TestStrict$")
			cmd.Env = append(os.Environ(), "ROSALINE_TEST_FAULT="+name)
			out, err := cmd.CombinedOutput()
			require.Error(t, err)
			require.Contains(t, string(out), f.says)
			require.NotContains(t, string(out), "survived")
		})
	}
}

// TestDeferred: work waits for synchronize, as it may on a device.
func TestDeferred(t *testing.T) {
	c := emulated(t)
	at, err := c.alloc(4)
	require.NoError(t, err)
	m, err := c.pin(4)
	require.NoError(t, err)
	copy(m, "rose")
	require.NoError(t, c.upload(at, m))
	copy(m, "line") // too early: the copy has not begun
	require.NoError(t, c.synchronize())
	copy(m, "????")
	require.NoError(t, c.download(m, at))
	require.Equal(t, "????", string(m))
	require.NoError(t, c.synchronize())
	require.Equal(t, "line", string(m))
	require.NoError(t, c.free(at))
	require.NoError(t, c.unpin(m))
	require.NoError(t, c.close())
}

// TestContext: a thread without the context gets nothing done.
func TestContext(t *testing.T) {
	c := emulated(t)
	other := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked, so that it is a thread of its own
		_, err := c.alloc(4)
		other <- err
	}()
	err := <-other
	require.ErrorIs(t, err, ErrDevice)
	require.ErrorContains(t, err, "InvalidContext")
	require.NoError(t, c.close())
}

// TestRanges: what is not within one piece of memory is refused.
func TestRanges(t *testing.T) {
	c := emulated(t)
	at, err := c.alloc(8)
	require.NoError(t, err)
	m, err := c.pin(16)
	require.NoError(t, err)
	require.ErrorIs(t, c.upload(at, m), ErrDevice)
	require.ErrorIs(t, c.upload(at+1, m[:8]), ErrDevice)
	require.ErrorIs(t, c.download(m[:8], at-1), ErrDevice)
	require.ErrorIs(t, c.clear(at, 3), ErrDevice)
	_, err = c.alloc(0)
	require.ErrorIs(t, err, ErrDevice)
	require.ErrorIs(t, c.launch(whereLength, 0), ErrDevice)
	require.NoError(t, c.upload(at, m[8:]))
	require.NoError(t, c.synchronize())
	require.NoError(t, c.free(at))
	require.NoError(t, c.unpin(m))
	require.NoError(t, c.close())
}
