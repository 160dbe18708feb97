//go:build cuda && cgo && linux

package gpu

/*
#include <cuda.h>
*/
import "C"

import (
	"fmt"
	"unsafe"

	"gorgonia.org/cu"
)

// What gorgonia.org/cu lacks.

// pinned allocates page-locked host memory; cu.MemFreeHost frees it.
func pinned(bytes int) (unsafe.Pointer, error) {
	var p unsafe.Pointer
	switch r := C.cuMemHostAlloc(&p, C.size_t(bytes), 0); r {
	case C.CUDA_SUCCESS:
		return p, nil
	case C.CUDA_ERROR_OUT_OF_MEMORY:
		return nil, cu.OutOfMemory
	default:
		return nil, fmt.Errorf("result %d", int(r))
	}
}
