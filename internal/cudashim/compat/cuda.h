/* Goes before the cuda.h of the toolkit, for gorgonia.org/cu v0.9.6.
 *
 * CUDA 13 gave five names to functions with other parameters than before. The driver still has
 * the old functions under their old symbols, so the names are turned back to those. With the
 * headers of CUDA 12 there is nothing to do. */
#ifndef ROSALINE_COMPAT_CUDA_H
#define ROSALINE_COMPAT_CUDA_H

#include_next <cuda.h>

#if CUDA_VERSION >= 13000
#undef cuCtxCreate
#undef cuMemAdvise
#undef cuMemPrefetchAsync
#undef cuGraphAddDependencies
#undef cuGraphGetEdges
#define cuCtxCreate cuCtxCreate_v2

#ifdef __cplusplus
extern "C" {
#endif
CUresult CUDAAPI cuCtxCreate_v2(CUcontext *context, unsigned int flags, CUdevice device);
CUresult CUDAAPI cuMemAdvise(CUdeviceptr from, size_t bytes, CUmem_advise advice, CUdevice device);
CUresult CUDAAPI cuMemPrefetchAsync(CUdeviceptr from, size_t bytes, CUdevice to, CUstream stream);
CUresult CUDAAPI cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count);
CUresult CUDAAPI cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *count);
#ifdef __cplusplus
}
#endif
#endif

#endif
