/* The driver's functions that begin and end what a profiler looks at. */
#ifndef WARPGLASS_CUDA_PROFILER_H
#define WARPGLASS_CUDA_PROFILER_H
#include <cuda.h>

#ifdef __cplusplus
extern "C" {
#endif
CUresult cuProfilerStart(void);
CUresult cuProfilerStop(void);
#ifdef __cplusplus
}
#endif
#endif
