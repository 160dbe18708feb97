// Blocks of threads as fibers of one operating system thread. A fiber runs until it comes to a
// barrier or a collective; who goes on then is a matter of order, which
// ROSALINE_EMU_ORDER sets: fwd (the default), rev, or rand, by a seed of ROSALINE_EMU_SEED.
// A result that depends on it lacks a barrier.
#include "block.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <sys/mman.h>
#include <vector>
#if !defined(__x86_64__) || defined(EMU_UCONTEXT)
#include <ucontext.h>
#endif

namespace emu {

Index thread, block, threads, blocks;

namespace {

constexpr size_t page = 4096, stack_size = 64 << 10;

#if defined(__x86_64__) && !defined(EMU_UCONTEXT)
// A fiber that does not run is its stack pointer; what a call must preserve lies on its stack.
using Place = void *;
extern "C" void emu_swap(Place *leave, Place enter);
asm(".text\n"
    ".type emu_swap,@function\n"
    ".hidden emu_swap\n"
    ".globl emu_swap\n"
    "emu_swap:\n"
    "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
    "  movq %rsp, (%rdi)\n"
    "  movq %rsi, %rsp\n"
    "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
    "  ret\n"
    ".size emu_swap, .-emu_swap\n");
void swap(Place &leave, Place &enter) { emu_swap(&leave, enter); }
void prepare(Place &fiber, char *stack, void (*entry)()) {
  void **top = reinterpret_cast<void **>(stack + stack_size);
  *--top = nullptr;  // where entry would return to; it keeps the stack aligned as after a call
  *--top = reinterpret_cast<void *>(entry);
  for (int i = 0; i < 6; i++) *--top = nullptr;
  fiber = top;
}
#else
using Place = ucontext_t;
void swap(Place &leave, Place &enter) { swapcontext(&leave, &enter); }
void prepare(Place &fiber, char *stack, void (*entry)()) {
  getcontext(&fiber);
  fiber.uc_stack.ss_sp = stack;
  fiber.uc_stack.ss_size = stack_size;
  fiber.uc_link = nullptr;
  makecontext(&fiber, entry, 0);
}
#endif

enum class State { ready, barrier, collective, ended };

struct Fiber {
  Place place;
  char *stack = nullptr;
  State state = State::ready;
  int line = 0;  // of the barrier or the collective it waits at
  unsigned mask = 0;
  Lanes lanes;  // of the collective it was in last: the next one may begin before it reads them
};

struct Warp {
  Lanes lanes;
  unsigned waiting = 0;
};

std::vector<Fiber> fibers;
std::vector<Warp> warps;
std::vector<unsigned> turns;  // the order of threads
unsigned size, current, at_barrier, alive;
Place scheduler;
const Body *running;
uint64_t seed;

// Marsaglia, Xorshift RNGs (2003).
uint64_t random() {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  return seed ^= seed << 17;
}

enum class Order { fwd, rev, rand };
Order order() {
  const char *s = getenv("ROSALINE_EMU_ORDER");
  if (!s || !*s || !strcmp(s, "fwd")) return Order::fwd;
  if (!strcmp(s, "rev")) return Order::rev;
  if (!strcmp(s, "rand")) return Order::rand;
  fail("ROSALINE_EMU_ORDER is %s; there are fwd, rev and rand", s);
}

void arrange(std::vector<unsigned> &list, unsigned n, Order o) {
  list.resize(n);
  for (unsigned i = 0; i < n; i++) list[i] = o == Order::rev ? n - 1 - i : i;
  if (o == Order::rand)
    for (unsigned i = n; i > 1; i--) std::swap(list[i - 1], list[random() % i]);
}

void leave(State state, int line) {
  fibers[current].state = state;
  fibers[current].line = line;
  const unsigned me = current;
  swap(fibers[me].place, scheduler);
}

void entry() {
  (*running)();
  alive--;
  leave(State::ended, 0);
  abort();
}

void start(Fiber &f) {
  if (!f.stack) {
    char *p = static_cast<char *>(mmap(nullptr, page + stack_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (p == MAP_FAILED || mprotect(p, page, PROT_NONE)) fail("no memory for the stack of a thread");
    f.stack = p + page;
  }
  prepare(f.place, f.stack, entry);
  f.state = State::ready;
}

// stuck tells where threads wait that nobody will free.
[[noreturn]] void stuck(const char *why) {
  std::map<std::pair<int, int>, std::pair<unsigned, unsigned>> places;
  for (unsigned i = 0; i < size; i++) {
    auto &p = places[{static_cast<int>(fibers[i].state), fibers[i].line}];
    if (!p.second++) p.first = i;
  }
  static const char *const names[] = {"ready", "at the barrier of line", "at the collective of line", "ended"};
  for (auto &p : places)
    fprintf(stderr, "emu: %u threads, the first is %u: %s %d\n", p.second.second, p.second.first, names[p.first.first], p.first.second);
  fail("block %u: %s", block.x, why);
}

constexpr unsigned char untouched = 0x5c;

std::vector<Area> &areas() {
  static std::vector<Area> all;
  return all;
}

void spoil(const Area &a) {
  noise(a.at, a.bytes);
  memset(a.behind, untouched, behind_bytes);
}

void run_block(Order o) {
  for (const Area &a : areas()) spoil(a);
  if (fibers.size() < size) fibers.resize(size);
  warps.assign((size + 31) / 32, Warp{});
  for (unsigned i = 0; i < size; i++) {
    start(fibers[i]);
    warps[i / 32].lanes.present |= 1u << (i % 32);
  }
  alive = size;
  at_barrier = 0;
  while (alive > 0) {
    bool progress = false;
    arrange(turns, size, o);
    for (unsigned i : turns) {
      if (fibers[i].state != State::ready) continue;
      progress = true;
      current = i;
      thread = {i % threads.x, i / threads.x % threads.y, i / threads.x / threads.y};
      swap(scheduler, fibers[i].place);
    }
    if (at_barrier == size) {
      for (unsigned i = 1; i < size; i++)
        if (fibers[i].line != fibers[0].line) stuck("threads are at different barriers");
      for (unsigned i = 0; i < size; i++) fibers[i].state = State::ready;
      at_barrier = 0;
    } else if (!progress) {
      stuck("threads wait for ones that do not come");
    }
  }
  for (const Area &a : areas())
    for (size_t i = 0; i < behind_bytes; i++)
      if (a.behind[i] != untouched) fail("block %u: a write %zu bytes behind shared memory", block.x, i);
}

std::map<std::string, Bind> &kernels() {
  static std::map<std::string, Bind> all;
  return all;
}

}  // namespace

void share(Area area) {  // by the first thread of all that comes to it, in the midst of a block
  spoil(area);
  areas().push_back(area);
}

void outside(size_t index, size_t count) { fail("block %u: index %zu of shared memory of %zu", block.x, index, count); }

unsigned lane() { return current % 32; }

void barrier(int line) {
  at_barrier++;
  leave(State::barrier, line);
}

const Lanes &exchange(unsigned mask, uint64_t value, int line) {
  Warp &w = warps[current / 32];
  const unsigned me = 1u << lane(), wanted = mask & w.lanes.present;
  fibers[current].mask = mask;
  if (!(mask & me)) stuck("a lane takes part in a collective whose mask leaves it out");
  for (unsigned l = 0; l < 32; l++) {
    const Fiber &f = fibers[current / 32 * 32 + l];
    if (w.waiting >> l & wanted >> l & 1 && (f.line != line || f.mask != mask))
      stuck("lanes of a warp are in different collectives");
  }
  w.lanes.in[lane()] = value;
  w.waiting |= me;
  if ((w.waiting & wanted) != wanted) {
    leave(State::collective, line);
    return fibers[current].lanes;
  }
  w.waiting &= ~wanted;
  for (unsigned l = 0; l < 32; l++)
    if (wanted >> l & 1) {
      Fiber &f = fibers[current / 32 * 32 + l];
      f.lanes = w.lanes;
      f.state = State::ready;
    }
  return fibers[current].lanes;
}

void enlist(const char *name, Bind bind) {
  if (!kernels().emplace(name, std::move(bind)).second) fail("two kernels are named %s", name);
}

const Bind *kernel(const char *name) {
  auto at = kernels().find(name);
  return at == kernels().end() ? nullptr : &at->second;
}

void launch(Index grid, Index shape, const Body &body) {
  const Order o = order();
  const char *s = getenv("ROSALINE_EMU_SEED");
  if (s && *s)
    seed = strtoull(s, nullptr, 0) | 1;
  else if (!seed)
    seed = 0x9e3779b97f4a7c15u;
  threads = shape;
  blocks = grid;
  size = shape.x * shape.y * shape.z;
  running = &body;
  std::vector<unsigned> list;
  arrange(list, grid.x * grid.y * grid.z, o);
  for (unsigned i : list) {
    block = {i % grid.x, i / grid.x % grid.y, i / grid.x / grid.y};
    run_block(o);
  }
}

void noise(void *p, size_t bytes) {
  if (!seed) seed = 0x9e3779b97f4a7c15u;
  char *to = static_cast<char *>(p);
  for (size_t i = 0; i < bytes; i += 8) {
    const uint64_t r = random();
    memcpy(to + i, &r, bytes - i < 8 ? bytes - i : 8);
  }
}

void fail(const char *format, ...) {
  fprintf(stderr, "emu: ");
  va_list list;
  va_start(list, format);
  vfprintf(stderr, format, list);
  va_end(list);
  fprintf(stderr, "\n");
  abort();
}

}  // namespace emu
