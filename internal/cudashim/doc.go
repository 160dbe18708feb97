// Package cudashim stands in the place of libcuda when a program is linked, and loads the real
// one when it is first called. A program with it starts on any Linux, and one that never asks
// for a device never looks for a driver.
//
//	gorgonia.org/cu ──▸ libcuda.a: 450 trampolines ──▸ libcuda.so.1, by dlopen at the first call
//	                              │
//	[Status] ─────────────────────┘  why there is none
//
// The trampolines are written by gen from the prototypes of cuda.h and compiled into
// build/libcuda.a, which the linker finds in the place of -lcuda. Their symbols are hidden: Go
// links programs with -rdynamic, and calls of the real library to itself must not end here.
// compat/cuda.h lets gorgonia.org/cu v0.9.6 be compiled with the headers of CUDA 13.
//
// ROSALINE_LIBCUDA names another library to load, or is "none". Without tag cuda, cgo or Linux
// there is no shim, and Status says so.
package cudashim
