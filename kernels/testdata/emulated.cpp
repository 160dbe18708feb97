// Kernels that test the emulator, right ones and wrong ones. The first argument names one, the
// others are blocks and threads; what it wrote is printed.
#include <cstdio>
#include <cstdlib>

#include "../emu/block.h"

#define ALL 0xffffffffu

KERNEL(scan, int64_t *out) {
  int v = (int)threadIdx.x + 1;
  for (int d = 1; d < 32; d *= 2) {
    const int left = __shfl_up_sync(ALL, v, d);
    if (threadIdx.x % 32 >= (unsigned)d) v += left;
  }
  out[threadIdx.x] = v;
}
KERNEL(shuffles, int64_t *out) {
  const int64_t t = threadIdx.x;
  int64_t *o = out + 4 * t;
  o[0] = __shfl_sync(ALL, t, 5);
  o[1] = __shfl_down_sync(ALL, t, 3);
  o[2] = __shfl_xor_sync(ALL, t, 1);
  __syncwarp();
  o[3] = __shfl_sync(0xffu << (t % 32 / 8 * 8), t, t % 32 / 8 * 8 + 2);  // each eight on their own
}
KERNEL(votes, int64_t *out) {
  int64_t *o = out + 4 * threadIdx.x;
  o[0] = __ballot_sync(ALL, threadIdx.x % 3 == 0);
  o[1] = __any_sync(ALL, threadIdx.x == 33);
  o[2] = __all_sync(ALL, threadIdx.x < 32);
  o[3] = __popc(threadIdx.x) * 10000 + __ffs((int)threadIdx.x) * 100 + __clz((int)threadIdx.x);
}
KERNEL(atomics, int64_t *out) {
  atomicAdd(&out[0], (int64_t)(blockIdx.x * blockDim.x + threadIdx.x));
  atomicOr(&out[1], (int64_t)1 << threadIdx.x);
  atomicAdd(&out[2], (int64_t)gridDim.x);
}
KERNEL(reverse, int64_t *out) {
  SHARED(int64_t, a, 64);
  a[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = a[blockDim.x - 1 - threadIdx.x];
}

// These lack a barrier.
KERNEL(left, int64_t *out) {
  SHARED(int64_t, a, 64);
  a[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = threadIdx.x ? a[threadIdx.x - 1] : -1;
}
KERNEL(right, int64_t *out) {
  SHARED(int64_t, a, 64);
  a[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = threadIdx.x + 1 < blockDim.x ? a[threadIdx.x + 1] : -1;
}
KERNEL(blocks_in_order, int64_t *out) { out[blockIdx.x] = blockIdx.x ? out[blockIdx.x - 1] + 1 : 7; }

// These end the program.
KERNEL(lane_gone, int64_t *out) {
  if (threadIdx.x == 3) return;
  out[threadIdx.x] = __ballot_sync(ALL, 1);
}
KERNEL(thread_gone, int64_t *) {
  if (threadIdx.x == 3) return;
  __syncthreads();
}
KERNEL(two_barriers, int64_t *) {
  if (threadIdx.x < 32)
    __syncthreads();
  else
    __syncthreads();
}
KERNEL(outside_mask, int64_t *) { __ballot_sync(0xf0u, 1); }
KERNEL(two_collectives, int64_t *out) {
  if (threadIdx.x % 2)
    out[0] = __ballot_sync(ALL, 1);
  else
    out[0] = __shfl_sync(ALL, 1, 0);
}
KERNEL(index_outside, int64_t *out) {
  SHARED(int64_t, a, 64);
  out[threadIdx.x] = a[threadIdx.x + 1];
}
KERNEL(write_behind, int64_t *) {
  SHARED(int64_t, a, 64);
  int64_t *p = a;
  p[threadIdx.x + 1] = 0;
}
KERNEL(deep, int64_t *out) {
  volatile char stack[1 << 17];
  stack[0] = 1;
  out[0] = stack[0];
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  const unsigned blocks = (unsigned)atoi(argv[2]), threads = (unsigned)atoi(argv[3]);
  static int64_t out[1024];
  int64_t *at = out;
  void *parameters[] = {&at};
  emu::launch({blocks, 1, 1}, {threads, 1, 1}, (*emu::kernel(argv[1]))(parameters));
  for (int64_t v : out) printf("%lld\n", (long long)v);
}
