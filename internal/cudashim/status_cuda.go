//go:build cuda && cgo && linux

package cudashim

/*
#cgo LDFLAGS: -lcuda -ldl -lpthread
#include "shim/status.h"
*/
import "C"

import "fmt"

// Status returns nil when the driver is loaded, new enough and has a device. Otherwise the
// error is [ErrNoDriver], [ErrNoDevice], [ErrDriverTooOld], [ErrInitFailed] or
// [ErrBrokenDriver], with the words of the loader or the driver. The first call loads the
// driver, which takes a second on a machine with many devices; the answer is kept for good.
func Status() error {
	var reason *C.char
	var err error
	switch C.shim_status(&reason) {
	case C.SHIM_READY:
		return nil
	case C.SHIM_NO_DRIVER:
		err = ErrNoDriver
	case C.SHIM_NO_DEVICE:
		err = ErrNoDevice
	case C.SHIM_TOO_OLD:
		err = ErrDriverTooOld
	case C.SHIM_INIT_FAILED:
		err = ErrInitFailed
	default:
		err = ErrBrokenDriver
	}
	return fmt.Errorf("%w: %s", err, C.GoString(reason))
}
