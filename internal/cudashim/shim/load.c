#include "shim.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "status.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static enum shim_state state;
static CUresult result = CUDA_ERROR_NOT_INITIALIZED; /* of every call when not ready */
static char reason[512];

/* missing tells a library that is not there from one that is and cannot be loaded. Both the
 * message of glibc and that of musl have its name and the text of ENOENT; when something the
 * library needs is missing, they have the name of that. */
static int missing(const char *message, const char *library) {
	const char *at = strstr(message, library);
	return at && strstr(message, "No such file or directory") &&
	       (at == message || at[-1] == ' ');
}

static void *find(const char *name) {
	for (size_t i = 0; i < shim_count; i++)
		if (strcmp(shim_names[i], name) == 0)
			return shim_addresses[i];
	return NULL;
}

static void load(void) {
	const char *library = getenv("ROSALINE_LIBCUDA");
	if (!library || !*library)
		library = "libcuda.so.1";
	if (strcmp(library, "none") == 0) {
		state = SHIM_NO_DRIVER;
		snprintf(reason, sizeof reason, "ROSALINE_LIBCUDA is none");
		return;
	}
	void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	if (!handle) {
		const char *message = dlerror();
		if (!message)
			message = "dlopen fails and does not say why";
		state = missing(message, library) ? SHIM_NO_DRIVER : SHIM_BROKEN;
		snprintf(reason, sizeof reason, "%s", message);
		return;
	}
	for (size_t i = 0; i < shim_count; i++)
		shim_addresses[i] = dlsym(handle, shim_names[i]);

	CUresult (*init)(unsigned) = (CUresult(*)(unsigned))find("cuInit");
	CUresult (*version)(int *) = (CUresult(*)(int *))find("cuDriverGetVersion");
	CUresult (*count)(int *) = (CUresult(*)(int *))find("cuDeviceGetCount");
	CUresult (*name)(CUresult, const char **) = (CUresult(*)(CUresult, const char **))find("cuGetErrorName");
	if (!init || !version || !count) {
		state = SHIM_BROKEN;
		result = CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND;
		snprintf(reason, sizeof reason, "%s lacks %s", library,
		         !init ? "cuInit" : !version ? "cuDriverGetVersion" : "cuDeviceGetCount");
		return;
	}
	int v = 0, devices = 0;
	CUresult started = init(0);
	if (started == CUDA_SUCCESS)
		started = count(&devices);
	if (started == CUDA_ERROR_NO_DEVICE || (started == CUDA_SUCCESS && devices == 0)) {
		state = SHIM_NO_DEVICE;
		result = CUDA_ERROR_NO_DEVICE;
		snprintf(reason, sizeof reason, "%s finds none", library);
		return;
	}
	/* An old driver may fail to start because it is old: that is the better advice. Drivers
	 * run the code of any toolkit of their own major version. */
	const int needed = CUDA_VERSION / 1000 * 1000;
	if (version(&v) == CUDA_SUCCESS && v < needed) {
		state = SHIM_TOO_OLD;
		result = CUDA_ERROR_SYSTEM_DRIVER_MISMATCH;
		snprintf(reason, sizeof reason, "%s is for CUDA %d.%d, at least %d.%d is needed", library,
		         v / 1000, v % 1000 / 10, needed / 1000, needed % 1000 / 10);
		return;
	}
	if (started != CUDA_SUCCESS) {
		const char *text = NULL;
		if (!name || name(started, &text) != CUDA_SUCCESS || !text)
			text = "an unknown error";
		state = SHIM_INIT_FAILED;
		result = started;
		snprintf(reason, sizeof reason, "%s answers %d, %s", library, (int)started, text);
		return;
	}
	state = SHIM_READY;
	result = CUDA_SUCCESS;
}

CUresult shim_ready(size_t number) {
	pthread_once(&once, load);
	if (state != SHIM_READY)
		return result;
	return shim_addresses[number] ? CUDA_SUCCESS : CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND;
}

enum shim_state shim_status(char **why) {
	pthread_once(&once, load);
	*why = reason;
	return state;
}

/* gorgonia.org/cu calls this when a program starts, and ends the program when it fails. So it
 * does nothing: the driver starts with the first call that needs one. */
HIDDEN CUresult CUDAAPI cuInit(unsigned flags) {
	(void)flags;
	return CUDA_SUCCESS;
}
