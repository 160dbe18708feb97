// Package kernels holds the CUDA sources of the device, one .cu for each family of operations,
// and, in a program built with tag cuda, what nvcc makes of them.
//
//	where.cu ──nvcc──▸ build/where.fatbin: sm_80, sm_90, sm_100, PTX for later ones ──▸ [Where]
//	    │                    └──▸ resources.txt: registers, shared memory, spills
//	    └─────c++ -include emu/emu.h──▸ build/libcuda_emu.so, a driver that runs them on the CPU
//
// rules.mk has how they are built: nvcc comes from a CUDA toolkit (CUDA_HOME) or, where there
// is none, from the Python wheels of requirements.txt. Nothing in build is committed.
//
// resources.txt has what the compiler says of each kernel on each architecture. A test fails
// when a kernel spills registers to memory, and when a figure has changed; a change that is
// meant is recorded by
//
//	make kernels && go test ./kernels -run Resources -update
//
// mutate breaks the sources in many small ways and sees that tests notice; mutants.txt has
// those that make no difference, and why.
package kernels

// Block is how many threads a block of any kernel has.
const Block = 256

// ContainsChunk is how many bytes of payload a block of where_contains looks through.
const ContainsChunk = 16384
