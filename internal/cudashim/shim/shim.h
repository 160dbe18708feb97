/* What the trampolines share with the loader. */
#include <cuda.h>
#include <stddef.h>

#define HIDDEN __attribute__((visibility("hidden")))

/* The functions of cuda.h, in the order of their trampolines. */
HIDDEN extern const size_t shim_count;
HIDDEN extern const char *const shim_names[];
HIDDEN extern void *shim_addresses[];

/* Loads the driver at the first call. Anything but CUDA_SUCCESS is what the trampoline of that
 * number has to return: there is no driver, or it lacks the function. */
HIDDEN CUresult shim_ready(size_t number);
