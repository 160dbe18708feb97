/* The least that is a driver, for tests of what becomes of each kind. */
#ifndef VERSION
#define VERSION 13000
#endif
#ifndef INIT
#define INIT 0
#endif
#ifndef DEVICES
#define DEVICES 1
#endif

int cuInit(unsigned flags) { return flags ? 1 : INIT; }
#ifndef NO_VERSION
int cuDriverGetVersion(int *version) { return *version = VERSION, 0; }
#endif
int cuDeviceGetCount(int *count) { return *count = DEVICES, 0; }
int cuGetErrorName(int error, const char **name) {
	return *name = error == 999 ? "CUDA_ERROR_UNKNOWN" : "CUDA_ERROR_OF_TESTS", 0;
}
