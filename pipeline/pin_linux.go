package pipeline

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// pin binds the calling goroutine to a thread, and that to one of the CPUs the
// process may use, the nth in turn. A system that refuses is left alone. The thread
// ends with the goroutine, so that its binding is inherited by nothing else.
func pin(n int) func() {
	runtime.LockOSThread()
	var allowed unix.CPUSet
	if err := unix.SchedGetaffinity(0, &allowed); err != nil || allowed.Count() == 0 {
		return runtime.UnlockOSThread
	}
	n %= allowed.Count()
	for cpu := 0; ; cpu++ {
		if !allowed.IsSet(cpu) {
			continue
		}
		if n == 0 {
			var one unix.CPUSet
			one.Set(cpu)
			if err := unix.SchedSetaffinity(0, &one); err != nil {
				return runtime.UnlockOSThread
			}
			return func() {} // the thread is left locked, and ends
		}
		n--
	}
}
