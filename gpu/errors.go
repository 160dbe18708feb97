package gpu

import "errors"

var (
	// ErrNoDevice is returned when there is no device to use: the program was built without
	// CUDA, or the machine has no driver or no such device. The message says which.
	ErrNoDevice = errors.New("gpu: no device")

	// ErrDriver is returned when the machine has a driver that cannot be used: it is too old,
	// broken, or does not start.
	ErrDriver = errors.New("gpu: unusable driver")

	// ErrInUse is returned when a device has an engine already; share that one.
	ErrInUse = errors.New("gpu: device in use")

	// ErrOutOfMemory is returned when device or pinned memory runs out. The engine can be used
	// as before; release what is not needed, or split the column.
	ErrOutOfMemory = errors.New("gpu: out of memory")

	// ErrDevice is returned when a call of the driver fails otherwise; the message names it.
	// Once the device has failed to finish its work, every later call returns that error, and
	// the engine can only be closed.
	ErrDevice = errors.New("gpu: device error")

	// ErrClosed is returned when the engine is closed.
	ErrClosed = errors.New("gpu: engine is closed")

	// ErrReleased is returned when a column or a selection is used after its release.
	ErrReleased = errors.New("gpu: used after release")
)
