package cpu

import "unsafe"

// Prefetch asks the processor to bring the memory at each address near, which takes no
// time to wait for. The addresses may be anything. The plain body does nothing.
func Prefetch(addresses []unsafe.Pointer) { prefetch(addresses) }
