// What all kernels share. The same sources are compiled by nvcc for devices and by a C++
// compiler for the emulator (emu/emu.h), so they keep to what both understand: no <<<>>>, no
// inline PTX, no dynamic shared memory, no textures, and every parameter has 8 bytes, since
// gorgonia.org/cu copies 8 of each.
#pragma once

#include <stdint.h>

// The threads of a block, of every kernel.
#define BLOCK 256

// The lanes of a warp that take part in a vote: all of them.
#define ALL 0xffffffffu

#ifndef EMU
#define KERNEL(name, ...) extern "C" __global__ void __launch_bounds__(BLOCK) name(__VA_ARGS__)
#define SHARED(type, name, count) __shared__ type name[count]
#endif
