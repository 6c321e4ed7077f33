/* Functions of the driver in the form they had up to CUDA 12, as overloads: CUDA 13 gave them another parameter or
 * another type of one. */
#pragma once
#ifdef __cplusplus

static inline CUresult cuCtxCreate(CUcontext *context, unsigned int flags, CUdevice device)
{
    return cuCtxCreate(context, static_cast<CUctxCreateParams *>(nullptr), flags, device);
}

static inline CUmemLocation warpglass_place(CUdevice device)
{
    CUmemLocation location = {};
    location.type = device == CU_DEVICE_CPU ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE;
    location.id = device == CU_DEVICE_CPU ? 0 : device;
    return location;
}

static inline CUresult cuMemAdvise(CUdeviceptr address, size_t count, CUmem_advise advice, CUdevice device)
{
    return cuMemAdvise(address, count, advice, warpglass_place(device));
}

static inline CUresult cuMemPrefetchAsync(CUdeviceptr address, size_t count, CUdevice device, CUstream stream)
{
    return cuMemPrefetchAsync(address, count, warpglass_place(device), 0u, stream);
}

static inline CUresult cuGraphAddNode(
    CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t count, CUgraphNodeParams *parameters)
{
    return cuGraphAddNode(node, graph, before, nullptr, count, parameters);
}

static inline CUresult cuGraphAddDependencies(
    CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count)
{
    return cuGraphAddDependencies(graph, from, to, nullptr, count);
}

static inline CUresult cuGraphRemoveDependencies(
    CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count)
{
    return cuGraphRemoveDependencies(graph, from, to, nullptr, count);
}

static inline CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *count)
{
    return cuGraphGetEdges(graph, from, to, nullptr, count);
}

static inline CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *before, size_t *count)
{
    return cuGraphNodeGetDependencies(node, before, nullptr, count);
}

static inline CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode *after, size_t *count)
{
    return cuGraphNodeGetDependentNodes(node, after, nullptr, count);
}
#endif
