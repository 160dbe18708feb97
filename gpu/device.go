package gpu

import (
	"errors"
	"fmt"

	"github.com/rosaline-go/rosaline/internal/cudashim"
)

// Device is what a driver says of a device.
type Device struct {
	Ordinal         int    // what [Open] takes
	Name            string // as its maker calls it
	Memory          int64  // bytes in all
	Major, Minor    int    // compute capability
	Multiprocessors int
}

// String returns the ordinal, name, compute capability and memory in GiB.
func (d Device) String() string {
	return fmt.Sprintf("%d: %s, compute capability %d.%d, %d multiprocessors, %.1f GiB", d.Ordinal, d.Name, d.Major, d.Minor, d.Multiprocessors, float64(d.Memory)/(1<<30))
}

// leastMajor is the compute capability of the oldest devices that the kernels are built for.
const leastMajor = 8

// Devices returns the devices of the machine, in the order of their ordinals; the first call
// starts the driver. The error is [ErrNoDevice] when there are none, and [ErrDriver].
func Devices() ([]Device, error) {
	if err := usable(cudashim.Status()); err != nil {
		return nil, err
	}
	return devices()
}

// usable tells the absence of a device from a driver that cannot be used.
func usable(status error) error {
	switch {
	case status == nil:
		return nil
	case errors.Is(status, cudashim.ErrNotBuilt), errors.Is(status, cudashim.ErrNoDriver), errors.Is(status, cudashim.ErrNoDevice):
		return fmt.Errorf("%w: %w", ErrNoDevice, status)
	default:
		return fmt.Errorf("%w: %w", ErrDriver, status)
	}
}
