// What the fake driver asks of the emulator.
#pragma once
#include <cstddef>

#include "emu.h"

namespace emu {

// kernel returns what was enlisted under a name, nullptr if nothing was.
const Bind *kernel(const char *name);

// launch runs a grid, one block after the other in the order that ROSALINE_EMU_ORDER says.
void launch(Index grid, Index shape, const Body &body);

// noise fills memory with arbitrary bytes, others each time.
void noise(void *p, size_t bytes);

// fail ends the program: what went wrong would be undefined on a device.
[[noreturn]] void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

}  // namespace emu
