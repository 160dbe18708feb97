package cudashim

import "errors"

var (
	// ErrNotBuilt is returned by a program that was built without the device.
	ErrNotBuilt = errors.New("cudashim: built without CUDA; build with cgo and tag cuda, on Linux")

	// ErrNoDriver is returned when the machine has no driver: libcuda.so.1 is not there.
	ErrNoDriver = errors.New("cudashim: no CUDA driver")

	// ErrNoDevice is returned when the driver works and finds no device.
	ErrNoDevice = errors.New("cudashim: no CUDA device")

	// ErrDriverTooOld is returned when the driver is older than the CUDA this program was
	// built with; install a newer one.
	ErrDriverTooOld = errors.New("cudashim: CUDA driver too old")

	// ErrInitFailed is returned when cuInit fails for a reason other than that there is no
	// device; the message has its number and name.
	ErrInitFailed = errors.New("cudashim: the CUDA driver does not start")

	// ErrBrokenDriver is returned when there is a libcuda.so.1 that cannot be loaded, or that
	// lacks what every driver has.
	ErrBrokenDriver = errors.New("cudashim: broken CUDA driver")
)
