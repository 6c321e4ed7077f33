// What programs written for CUDA 12 or before call, in the form that it had then; every call says 0.
#include <cstdio>
#include <cuda.h>

__global__ void sum(float *x)
{
    float value = x[threadIdx.x];
    for (int delta = 16; delta > 0; delta /= 2) value += __shfl_down(value, delta);
    if (threadIdx.x == 0) x[0] = value;
}

int main()
{
    int device = 0, failed = 0;
    struct cudaDeviceProp plain = {0};
    cudaDeviceProp property;
    failed += cudaGetDeviceProperties(&plain, device) + cudaGetDeviceProperties(&property, device);
    printf("%d %d %d\n", plain.clockRate, property.memoryClockRate, property.deviceOverlap);

    float *x;
    cudaStream_t stream;
    failed += cudaStreamCreate(&stream) + cudaMallocManaged(&x, 32 * sizeof *x);
    printf("%g\n", x[5]);
    for (int i = 0; i < 32; ++i) x[i] = i;
    failed += cudaMemAdvise(x, 128, cudaMemAdviseSetReadMostly, device);
    failed += cudaMemAdvise(x, 128, cudaMemAdviseSetPreferredLocation, cudaCpuDeviceId);
    failed += cudaMemPrefetchAsync(x, 128, device, stream) + cudaMemPrefetchAsync(x, 128, cudaCpuDeviceId);
    sum<<<1, 32>>>(x);
    failed += cudaDeviceSynchronize();
    printf("%g\n", x[0]);

    cudaGraph_t graph;
    cudaGraphNode_t first, second;
    size_t count = 0;
    failed += cudaGraphCreate(&graph, 0);
    failed += cudaGraphAddEmptyNode(&first, graph, NULL, 0) + cudaGraphAddEmptyNode(&second, graph, NULL, 0);
    failed += cudaGraphAddDependencies(graph, &first, &second, 1) + cudaGraphGetEdges(graph, NULL, NULL, &count);
    printf("%zu\n", count);

    CUcontext context;
    failed += cuInit(0) + cuCtxCreate(&context, 0, device);
    printf("%d\n", failed);
}
