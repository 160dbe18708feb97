// The CUDA language for a C++ compiler: included before a kernel source, it makes of each
// KERNEL a function that the fake driver (driver.cpp) finds by name and block.cpp runs, thread
// by thread. It is not on the way to any device.
//
// What is strict here is so on purpose: shared memory has bounds and, when a block begins, noise;
// a barrier is one only if all threads of the block come to the same one, and lanes of a warp
// must agree on the collective they are in. What it cannot show: weak memory order, limits of
// the device, time.
#pragma once
#define EMU 1

#include <cstdint>
#include <cstring>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace emu {

struct Index {
  unsigned x, y, z;
};

// The thread that runs, and its place.
extern Index thread, block, threads, blocks;

// barrier returns when all threads of the block have come to it.
void barrier(int line);

// exchange returns when all lanes of the mask have come to it; in has what each brought.
struct Lanes {
  uint64_t in[32];
  unsigned present;  // the lanes of this warp that there are
};
const Lanes &exchange(unsigned mask, uint64_t value, int line);
unsigned lane();

// A kernel takes its parameters when it is launched and runs once for each thread.
using Body = std::function<void()>;
using Bind = std::function<Body(void **)>;
void enlist(const char *name, Bind bind);

template <class... P, size_t... I>
Bind binder(void (*kernel)(P...), std::index_sequence<I...>) {
  static_assert(((sizeof(P) == 8) && ...), "a kernel parameter has 8 bytes");
  return [kernel](void **from) {
    std::tuple<P...> values(*static_cast<P *>(from[I])...);
    return Body([kernel, values] { std::apply(kernel, values); });
  };
}

struct Enlist {
  template <class... P>
  Enlist(const char *name, void (*kernel)(P...)) {
    enlist(name, binder(kernel, std::index_sequence_for<P...>{}));
  }
};

// Memory that a block shares: it has arbitrary bytes when a block begins, and what lies behind
// it must be as it was when the block ends.
struct Area {
  void *at;
  size_t bytes;
  unsigned char *behind;
};
void share(Area area);
[[noreturn]] void outside(size_t index, size_t count);
constexpr size_t behind_bytes = 64;

template <class T, size_t N>
class Shared {
 public:
  Shared() { share({items, sizeof items, behind}); }
  T &operator[](size_t i) {
    if (i >= N) outside(i, N);
    return items[i];
  }
  operator T *() { return items; }

 private:
  T items[N];
  unsigned char behind[behind_bytes];
};

template <class T>
T shuffled(unsigned mask, T value, int from, bool inside, int line) {
  static_assert(sizeof(T) <= 8, "");
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof value);
  const Lanes &lanes = exchange(mask, bits, line);
  if (!inside || !(lanes.present >> from & 1)) return value;
  memcpy(&value, &lanes.in[from], sizeof value);
  return value;
}

}  // namespace emu

#define KERNEL(name, ...)                           \
  static void name(__VA_ARGS__);                    \
  static const emu::Enlist enlist_##name(#name, name); \
  static void name(__VA_ARGS__)

#define __device__
#define __forceinline__ inline
#define SHARED(type, name, count) static emu::Shared<type, count> name

#define threadIdx (emu::thread)
#define blockIdx (emu::block)
#define blockDim (emu::threads)
#define gridDim (emu::blocks)

#define __syncthreads() emu::barrier(__LINE__)
#define __syncwarp(...) ((void)emu::exchange(0xffffffffu, 0, __LINE__))
#define __ballot_sync(mask, vote) emu_ballot(mask, vote, __LINE__)
#define __any_sync(mask, vote) (emu_ballot(mask, vote, __LINE__) != 0)
#define __all_sync(mask, vote) (emu_ballot(mask, !(vote), __LINE__) == 0)
#define __shfl_sync(mask, value, from) \
  emu::shuffled(mask, value, (from) & 31, true, __LINE__)
#define __shfl_up_sync(mask, value, by) \
  emu::shuffled(mask, value, (int)(emu::lane() - (by)) & 31, emu::lane() >= (unsigned)(by), __LINE__)
#define __shfl_down_sync(mask, value, by) \
  emu::shuffled(mask, value, (int)(emu::lane() + (by)) & 31, emu::lane() + (by) < 32, __LINE__)
#define __shfl_xor_sync(mask, value, by) \
  emu::shuffled(mask, value, (int)(emu::lane() ^ (by)) & 31, true, __LINE__)

static inline unsigned emu_ballot(unsigned mask, bool vote, int line) {
  const emu::Lanes &lanes = emu::exchange(mask, vote, line);
  unsigned word = 0;
  for (unsigned l = 0; l < 32; l++)
    if ((mask & lanes.present) >> l & 1) word |= (unsigned)lanes.in[l] << l;
  return word;
}

static inline int __popc(unsigned v) { return __builtin_popcount(v); }
static inline int __ffs(int v) { return __builtin_ffs(v); }
static inline int __clz(int v) { return v ? __builtin_clz((unsigned)v) : 32; }

// One thread runs at a time, so that reads and writes are atomic as they are.
template <class T, class V>
static inline T atomicOr(T *p, V v) {
  const T old = *p;
  *p = old | (T)v;
  return old;
}
template <class T, class V>
static inline T atomicAdd(T *p, V v) {
  const T old = *p;
  *p = old + (T)v;
  return old;
}
