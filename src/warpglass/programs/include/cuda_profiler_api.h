/* The functions that begin and end what a profiler looks at; NVIDIA's header is in a package of its own. */
#ifndef WARPGLASS_CUDA_PROFILER_API_H
#define WARPGLASS_CUDA_PROFILER_API_H
#include <driver_types.h>

#ifdef __cplusplus
extern "C" {
#endif
cudaError_t cudaProfilerStart(void);
cudaError_t cudaProfilerStop(void);
#ifdef __cplusplus
}
#endif
#endif
