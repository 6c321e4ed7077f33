/* Functions of the runtime in the form they had up to CUDA 12, as overloads: CUDA 13 gave them another parameter
 * or another type of one. Devices' properties have the fields that CUDA 13 took out, read as attributes. And the
 * warp functions of before Volta, which work on the lanes that are there, as they did. */
#pragma once
#if defined(__cplusplus) && !defined(__CUDACC_RTC__)

struct warpglass_cudaDeviceProp : cudaDeviceProp {
    int clockRate;                     /* kHz */
    int memoryClockRate;               /* kHz */
    int deviceOverlap;
    int kernelExecTimeoutEnabled;
    int computeMode;
    int singleToDoublePrecisionPerfRatio;
    int maxTexture1DLinear;
    int cooperativeMultiDeviceLaunch;
};

static inline cudaError_t cudaGetDeviceProperties(warpglass_cudaDeviceProp *prop, int device)
{
    cudaError_t status = cudaGetDeviceProperties(static_cast<cudaDeviceProp *>(prop), device);
    if (status != cudaSuccess) return status;
    prop->deviceOverlap = prop->asyncEngineCount > 0;
    prop->cooperativeMultiDeviceLaunch = 0;
    const struct { int *value; cudaDeviceAttr attribute; } asked[] = {
        {&prop->clockRate, cudaDevAttrClockRate},
        {&prop->memoryClockRate, cudaDevAttrMemoryClockRate},
        {&prop->kernelExecTimeoutEnabled, cudaDevAttrKernelExecTimeout},
        {&prop->computeMode, cudaDevAttrComputeMode},
        {&prop->singleToDoublePrecisionPerfRatio, cudaDevAttrSingleToDoublePrecisionPerfRatio},
        {&prop->maxTexture1DLinear, cudaDevAttrMaxTexture1DLinearWidth},
    };
    for (const auto &one : asked)
        if (cudaDeviceGetAttribute(one.value, one.attribute, device) != cudaSuccess) *one.value = 0;
    return cudaSuccess;
}
#define cudaDeviceProp warpglass_cudaDeviceProp

static inline cudaMemLocation warpglass_location(int device)
{
    cudaMemLocation location = {};
    location.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
    location.id = device == cudaCpuDeviceId ? 0 : device;
    return location;
}

static inline cudaError_t cudaMemPrefetchAsync(const void *address, size_t count, int device, cudaStream_t stream = 0)
{
    return cudaMemPrefetchAsync(address, count, warpglass_location(device), 0u, stream);
}

static inline cudaError_t cudaMemAdvise(const void *address, size_t count, cudaMemoryAdvise advice, int device)
{
    return cudaMemAdvise(address, count, advice, warpglass_location(device));
}

static inline cudaError_t cudaGraphAddNode(
    cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before, size_t count,
    cudaGraphNodeParams *parameters)
{
    return cudaGraphAddNode(node, graph, before, nullptr, count, parameters);
}

static inline cudaError_t cudaGraphAddDependencies(
    cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t count)
{
    return cudaGraphAddDependencies(graph, from, to, nullptr, count);
}

static inline cudaError_t cudaGraphRemoveDependencies(
    cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t count)
{
    return cudaGraphRemoveDependencies(graph, from, to, nullptr, count);
}

static inline cudaError_t cudaGraphGetEdges(
    cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *count)
{
    return cudaGraphGetEdges(graph, from, to, nullptr, count);
}

static inline cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *before, size_t *count)
{
    return cudaGraphNodeGetDependencies(node, before, nullptr, count);
}

static inline cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *after, size_t *count)
{
    return cudaGraphNodeGetDependentNodes(node, after, nullptr, count);
}

static inline cudaError_t cudaStreamGetCaptureInfo(
    cudaStream_t stream, cudaStreamCaptureStatus *status, unsigned long long *id, cudaGraph_t *graph,
    const cudaGraphNode_t **before, size_t *count)
{
    return cudaStreamGetCaptureInfo(stream, status, id, graph, before, nullptr, count);
}

static inline cudaError_t cudaStreamUpdateCaptureDependencies(
    cudaStream_t stream, cudaGraphNode_t *before, size_t count, unsigned int flags = 0)
{
    return cudaStreamUpdateCaptureDependencies(stream, before, nullptr, count, flags);
}

#ifdef __CUDACC__
template <class T> static __device__ inline T __shfl(T value, int lane, int width = 32)
{
    return __shfl_sync(__activemask(), value, lane, width);
}
template <class T> static __device__ inline T __shfl_up(T value, unsigned int delta, int width = 32)
{
    return __shfl_up_sync(__activemask(), value, delta, width);
}
template <class T> static __device__ inline T __shfl_down(T value, unsigned int delta, int width = 32)
{
    return __shfl_down_sync(__activemask(), value, delta, width);
}
template <class T> static __device__ inline T __shfl_xor(T value, int mask, int width = 32)
{
    return __shfl_xor_sync(__activemask(), value, mask, width);
}
#ifdef WARPGLASS_OLDER_VOTES /* built into the compiler, and libcu++ has other uses for the names */
#define __any(predicate) __any_sync(__activemask(), predicate)
#define __all(predicate) __all_sync(__activemask(), predicate)
#define __ballot(predicate) __ballot_sync(__activemask(), predicate)
#endif
#endif
#endif
