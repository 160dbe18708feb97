package hugepages

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Prefer asks for huge pages for all that a slice has room for, before it is touched.
func Prefer[T any](s []T) {
	if cap(s) == 0 {
		return
	}
	var one T
	from := uintptr(unsafe.Pointer(unsafe.SliceData(s)))
	to := from + uintptr(cap(s))*unsafe.Sizeof(one)
	from &^= Size - 1
	to = (to + Size - 1) &^ (Size - 1)
	// By number, since these are no objects of Go.
	_, _, _ = unix.Syscall(unix.SYS_MADVISE, from, to-from, unix.MADV_HUGEPAGE)
}
