// A driver without a device: the functions of libcuda that package gpu calls, over host memory
// and emulated kernels. ROSALINE_LIBCUDA points the program at it. It is stricter than a real
// driver, so that what only happens to work on one fails here:
//
//   - a call on a thread without a current context fails
//   - work on a stream waits until somebody synchronizes
//   - device and pinned memory end and begin at pages that nobody may touch, hold arbitrary
//     bytes at first, and are gone when freed
//   - asynchronous copies are to and from pinned memory only
//   - memory is not freed while a stream has work left, nothing is freed twice, and when the
//     context goes nothing is left
//
// The first two are answers of the driver; the others end the program, since a real driver may
// let them pass.
#include <cuda.h>

#include <cstdio>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <sys/mman.h>

#include "block.h"

#define API extern "C" __attribute__((visibility("default"))) CUresult CUDAAPI

namespace {

constexpr size_t page = 4096, capacity = size_t(2) << 30;
constexpr unsigned fatbin_magic = 0xba55ed50;

// Everything below is under this lock; the emulator runs one block at a time anyway.
std::recursive_mutex lock;
using Locked = std::lock_guard<std::recursive_mutex>;

struct Memory {
  char *map;
  size_t mapped, bytes;
  unsigned char canary;
};
using Heap = std::map<uintptr_t, Memory>;
Heap device_memory, pinned_memory;
size_t in_use;

struct Stream {
  std::deque<std::function<void()>> work;
};
std::set<Stream *> streams;
std::set<int *> modules;
int retained;
char context;  // its address stands for the primary context
thread_local bool current;

bool idle() {
  for (Stream *s : streams)
    if (!s->work.empty()) return false;
  return true;
}

void drain(Stream *s) {
  while (!s->work.empty()) {
    auto f = std::move(s->work.front());
    s->work.pop_front();
    f();
  }
}

// allocate puts memory right before a page that nobody may touch, as far as its size lets it
// be aligned; the slack before it has a byte that must stay.
uintptr_t allocate(Heap &heap, size_t bytes) {
  const size_t body = (bytes + page - 1) / page * page, mapped = body + 2 * page;
  char *map = static_cast<char *>(mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (map == MAP_FAILED) return 0;
  char *at = map + page + body - bytes;
  const unsigned char canary = 0xc5;
  memset(map + page, canary, body - bytes);
  emu::noise(at, bytes);
  if (mprotect(map, page, PROT_NONE) || mprotect(map + page + body, page, PROT_NONE)) emu::fail("mprotect fails");
  heap[reinterpret_cast<uintptr_t>(at)] = {map, mapped, bytes, canary};
  return reinterpret_cast<uintptr_t>(at);
}

void release(Heap &heap, uintptr_t at, const char *what) {
  auto it = heap.find(at);
  if (it == heap.end()) emu::fail("%s memory is freed that was not allocated, or was freed before", what);
  if (!idle()) emu::fail("%s memory is freed while a stream has work left", what);
  const Memory &m = it->second;
  for (char *p = m.map + page; p < reinterpret_cast<char *>(at); p++)
    if (static_cast<unsigned char>(*p) != m.canary) emu::fail("something wrote %zu bytes before %s memory", static_cast<size_t>(reinterpret_cast<char *>(at) - p), what);
  munmap(m.map, m.mapped);
  heap.erase(it);
}

bool within(const Heap &heap, uintptr_t p, size_t bytes) {
  auto it = heap.upper_bound(p);
  if (it == heap.begin()) return false;
  --it;
  return p - it->first <= it->second.bytes && bytes <= it->second.bytes - (p - it->first);
}

CUresult enqueue(CUstream stream, std::function<void()> f) {
  Stream *s = reinterpret_cast<Stream *>(stream);
  if (!streams.count(s)) return CUDA_ERROR_INVALID_HANDLE;
  s->work.push_back(std::move(f));
  return CUDA_SUCCESS;
}

CUresult copy(uintptr_t device, const void *host, size_t bytes) {
  if (!current) return CUDA_ERROR_INVALID_CONTEXT;
  if (!within(device_memory, device, bytes)) return CUDA_ERROR_INVALID_VALUE;
  if (!within(pinned_memory, reinterpret_cast<uintptr_t>(host), bytes)) emu::fail("an asynchronous copy of memory that is not pinned");
  return CUDA_SUCCESS;
}

}  // namespace

API cuInit(unsigned) { return CUDA_SUCCESS; }
API cuDriverGetVersion(int *version) { return *version = CUDA_VERSION, CUDA_SUCCESS; }
API cuGetErrorName(CUresult e, const char **name) {
  *name = e == CUDA_SUCCESS ? "CUDA_SUCCESS" : "an error of the emulator";
  return CUDA_SUCCESS;
}

API cuDeviceGetCount(int *count) { return *count = 1, CUDA_SUCCESS; }
API cuDeviceGet(CUdevice *device, int ordinal) {
  if (ordinal != 0) return CUDA_ERROR_INVALID_DEVICE;
  return *device = 0, CUDA_SUCCESS;
}
API cuDeviceGetName(char *name, int size, CUdevice) {
  snprintf(name, static_cast<size_t>(size), "emulator");
  return CUDA_SUCCESS;
}
API cuDeviceTotalMem_v2(size_t *bytes, CUdevice) { return *bytes = capacity, CUDA_SUCCESS; }
API cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice) {
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *value = 8; break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: *value = 0; break;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: *value = 1; break;
    default: return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

API cuDevicePrimaryCtxRetain(CUcontext *c, CUdevice) {
  Locked l(lock);
  retained++;
  *c = reinterpret_cast<CUcontext>(&context);
  return CUDA_SUCCESS;
}
API cuDevicePrimaryCtxRelease_v2(CUdevice) {
  Locked l(lock);
  if (retained == 0) return CUDA_ERROR_INVALID_CONTEXT;
  if (--retained == 0 && (!device_memory.empty() || !pinned_memory.empty() || !streams.empty() || !modules.empty()))
    emu::fail("the context goes and leaves %zu pieces of device memory, %zu of pinned memory, %zu streams and %zu modules",
              device_memory.size(), pinned_memory.size(), streams.size(), modules.size());
  return CUDA_SUCCESS;
}
API cuCtxSetCurrent(CUcontext c) {
  Locked l(lock);
  if (c && (reinterpret_cast<char *>(c) != &context || !retained)) return CUDA_ERROR_INVALID_CONTEXT;
  current = c != nullptr;
  return CUDA_SUCCESS;
}

API cuStreamCreate(CUstream *stream, unsigned) {
  Locked l(lock);
  if (!current) return CUDA_ERROR_INVALID_CONTEXT;
  Stream *s = new Stream;
  streams.insert(s);
  *stream = reinterpret_cast<CUstream>(s);
  return CUDA_SUCCESS;
}
API cuStreamDestroy_v2(CUstream stream) {
  Locked l(lock);
  Stream *s = reinterpret_cast<Stream *>(stream);
  if (!current) return CUDA_ERROR_INVALID_CONTEXT;
  if (!streams.count(s)) return CUDA_ERROR_INVALID_HANDLE;
  drain(s);
  streams.erase(s);
  delete s;
  return CUDA_SUCCESS;
}
API cuStreamSynchronize(CUstream stream) {
  Locked l(lock);
  Stream *s = reinterpret_cast<Stream *>(stream);
  if (!current) return CUDA_ERROR_INVALID_CONTEXT;
  if (!streams.count(s)) return CUDA_ERROR_INVALID_HANDLE;
  drain(s);
  return CUDA_SUCCESS;
}

API cuMemAlloc_v2(CUdeviceptr *p, size_t bytes) {
  Locked l(lock);
  if (!current) return CUDA_ERROR_INVALID_CONTEXT;
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  if (bytes > capacity - in_use) return CUDA_ERROR_OUT_OF_MEMORY;
  *p = allocate(device_memory, bytes);
  if (!*p) return CUDA_ERROR_OUT_OF_MEMORY;
  in_use += bytes;
  return CUDA_SUCCESS;
}
API cuMemFree_v2(CUdeviceptr p) {
  Locked l(lock);
  if (!current) return CUDA_ERROR_INVALID_CONTEXT;
  auto it = device_memory.find(p);
  const size_t bytes = it == device_memory.end() ? 0 : it->second.bytes;
  release(device_memory, p, "device");
  in_use -= bytes;
  return CUDA_SUCCESS;
}
API cuMemHostAlloc(void **p, size_t bytes, unsigned) {
  Locked l(lock);
  if (!current) return CUDA_ERROR_INVALID_CONTEXT;
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  *p = reinterpret_cast<void *>(allocate(pinned_memory, bytes));
  return *p ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
API cuMemFreeHost(void *p) {
  Locked l(lock);
  if (!current) return CUDA_ERROR_INVALID_CONTEXT;
  release(pinned_memory, reinterpret_cast<uintptr_t>(p), "pinned");
  return CUDA_SUCCESS;
}

API cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
  Locked l(lock);
  if (CUresult r = copy(to, from, bytes)) return r;
  return enqueue(stream, [=] { memcpy(reinterpret_cast<void *>(to), from, bytes); });
}
API cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
  Locked l(lock);
  if (CUresult r = copy(from, to, bytes)) return r;
  return enqueue(stream, [=] { memcpy(to, reinterpret_cast<const void *>(from), bytes); });
}
API cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t words, CUstream stream) {
  Locked l(lock);
  if (!current) return CUDA_ERROR_INVALID_CONTEXT;
  if (to % 4 || !within(device_memory, to, words * 4)) return CUDA_ERROR_INVALID_VALUE;
  return enqueue(stream, [=] {
    for (size_t i = 0; i < words; i++) reinterpret_cast<unsigned *>(to)[i] = value;
  });
}

API cuModuleLoadData(CUmodule *module, const void *image) {
  Locked l(lock);
  if (!current) return CUDA_ERROR_INVALID_CONTEXT;
  unsigned magic;
  memcpy(&magic, image, sizeof magic);
  if (magic != fatbin_magic) return CUDA_ERROR_INVALID_IMAGE;
  int *m = new int(0);
  modules.insert(m);
  *module = reinterpret_cast<CUmodule>(m);
  return CUDA_SUCCESS;
}
API cuModuleUnload(CUmodule module) {
  Locked l(lock);
  if (!current) return CUDA_ERROR_INVALID_CONTEXT;
  int *m = reinterpret_cast<int *>(module);
  if (!modules.erase(m)) return CUDA_ERROR_INVALID_HANDLE;
  delete m;
  return CUDA_SUCCESS;
}
API cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  Locked l(lock);
  if (!current) return CUDA_ERROR_INVALID_CONTEXT;
  if (!modules.count(reinterpret_cast<int *>(module))) return CUDA_ERROR_INVALID_HANDLE;
  const emu::Bind *kernel = emu::kernel(name);
  if (!kernel) return CUDA_ERROR_NOT_FOUND;
  *function = reinterpret_cast<CUfunction>(const_cast<emu::Bind *>(kernel));
  return CUDA_SUCCESS;
}
API cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, CUstream stream, void **parameters, void **extra) {
  Locked l(lock);
  if (!current) return CUDA_ERROR_INVALID_CONTEXT;
  const uint64_t in_block = uint64_t(bx) * by * bz;
  if (!function || extra || shared || gx == 0 || gy == 0 || gz == 0 || in_block == 0 || in_block > 1024 || gx > 0x7fffffff || gy > 65535 || gz > 65535)
    return CUDA_ERROR_INVALID_VALUE;
  // The values are taken now, as the driver does; the pointers need not live longer.
  emu::Body body = (*reinterpret_cast<const emu::Bind *>(function))(parameters);
  return enqueue(stream, [=] { emu::launch({gx, gy, gz}, {bx, by, bz}, body); });
}
