// Predicates on a column of strings: row i is payload[offsets[i]] up to payload[offsets[i+1]].
// Each answers with a mask of one bit a row, bit i%32 of word i/32, as the twins of the same
// names in stringtensor answer with the rows. Patterns have m bytes, at least one: what holds
// for the empty string is a question of length and validity, which where_length answers. Null
// rows are empty and so match no pattern.
#include "kernel.cuh"

// The bytes of a pattern that are kept in shared memory, where a warp reads one as fast as a
// register: one a thread. The rest of a longer pattern is read only by rows that have its
// beginning.
#define HEAD BLOCK

// The bytes of payload that a block of where_contains looks through.
#define CHUNK 16384

// stage copies the beginning of a pattern to shared memory. A barrier has to follow.
static __device__ void stage(uint8_t *head, const uint8_t *pattern, uint64_t m) {
  if (threadIdx.x < m) head[threadIdx.x] = pattern[threadIdx.x];
}

// same compares m bytes with a pattern.
static __device__ bool same(const uint8_t *text, const uint8_t *head, const uint8_t *pattern,
                            uint64_t m) {
  for (uint64_t k = 0; k < m; k++)
    if (text[k] != (k < HEAD ? head[k] : pattern[k])) return false;
  return true;
}

// row returns the row of this thread, which may be n or more.
static __device__ uint64_t row() { return (uint64_t)blockIdx.x * BLOCK + threadIdx.x; }

// vote writes the word of a warp. All of its lanes come here, those without a row too.
static __device__ void vote(uint32_t *mask, uint64_t i, uint64_t n, bool hit) {
  const uint32_t word = __ballot_sync(ALL, hit);
  if (threadIdx.x % 32 == 0 && i < n) mask[i / 32] = word;
}

KERNEL(where_prefix, const uint32_t *offsets, const uint8_t *payload, uint64_t n,
       const uint8_t *pattern, uint64_t m, uint32_t *mask) {
  SHARED(uint8_t, head, HEAD);
  stage(head, pattern, m);
  __syncthreads();
  const uint64_t i = row();
  bool hit = false;
  if (i < n) {
    const uint64_t from = offsets[i], to = offsets[i + 1];
    hit = to - from >= m && same(payload + from, head, pattern, m);
  }
  vote(mask, i, n, hit);
}

KERNEL(where_suffix, const uint32_t *offsets, const uint8_t *payload, uint64_t n,
       const uint8_t *pattern, uint64_t m, uint32_t *mask) {
  SHARED(uint8_t, head, HEAD);
  stage(head, pattern, m);
  __syncthreads();
  const uint64_t i = row();
  bool hit = false;
  if (i < n) {
    const uint64_t from = offsets[i], to = offsets[i + 1];
    hit = to - from >= m && same(payload + (to - m), head, pattern, m);
  }
  vote(mask, i, n, hit);
}

KERNEL(where_equal, const uint32_t *offsets, const uint8_t *payload, uint64_t n,
       const uint8_t *pattern, uint64_t m, uint32_t *mask) {
  SHARED(uint8_t, head, HEAD);
  stage(head, pattern, m);
  __syncthreads();
  const uint64_t i = row();
  bool hit = false;
  if (i < n) {
    const uint64_t from = offsets[i], to = offsets[i + 1];
    hit = to - from == m && same(payload + from, head, pattern, m);
  }
  vote(mask, i, n, hit);
}

// where_length marks the rows of shortest to longest bytes that are valid; no valid bits at all
// stand for valid rows only. They are laid out as the mask is.
KERNEL(where_length, const uint32_t *offsets, uint64_t n, uint64_t shortest, uint64_t longest,
       const uint32_t *valid, uint32_t *mask) {
  const uint64_t i = row();
  bool hit = false;
  if (i < n) {
    const uint64_t size = offsets[i + 1] - offsets[i];
    hit = size >= shortest && size <= longest;
    if (valid) hit = hit && (valid[i / 32] >> (i % 32) & 1);
  }
  vote(mask, i, n, hit);
}

// row_of returns the row that the byte at p belongs to: the last one from lo to hi, hi not
// included, that begins there or before, so that empty rows are passed over.
static __device__ uint64_t row_of(const uint32_t *offsets, uint64_t lo, uint64_t hi, uint64_t p) {
  while (hi - lo > 1) {
    const uint64_t mid = lo + (hi - lo) / 2;
    if (offsets[mid] <= p)
      lo = mid;
    else
      hi = mid;
  }
  return lo;
}

// where_contains looks at the payload as one text, CHUNK bytes a block, so that long rows
// among short ones keep nobody waiting. Only where the pattern is found does it ask for the
// row. The mask is zero before, and the payload has at least m bytes.
KERNEL(where_contains, const uint32_t *offsets, const uint8_t *payload, uint64_t n,
       const uint8_t *pattern, uint64_t m, uint32_t *mask) {
  SHARED(uint8_t, head, HEAD);
  SHARED(uint64_t, rows, 2);  // the first and the last of the chunk
  const uint64_t from = (uint64_t)blockIdx.x * CHUNK;
  const uint64_t stop = offsets[n] - m + 1;
  const uint64_t to = from + CHUNK < stop ? from + CHUNK : stop;
  stage(head, pattern, m);
  if (threadIdx.x < 2) rows[threadIdx.x] = row_of(offsets, 0, n, threadIdx.x ? to - 1 : from);
  __syncthreads();
  const uint64_t lo = rows[0], hi = rows[1] + 1;
  for (uint64_t p = from + threadIdx.x; p < to; p += BLOCK) {
    if (!same(payload + p, head, pattern, m)) continue;
    const uint64_t i = row_of(offsets, lo, hi, p);
    if (p + m <= offsets[i + 1]) atomicOr(&mask[i / 32], 1u << (i % 32));
  }
}
