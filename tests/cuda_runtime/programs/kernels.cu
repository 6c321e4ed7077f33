// What kernels may ask for: much shared memory, the heap, virtual functions, all blocks at once, assert.
#include <cassert>
#include <cooperative_groups.h>

#include "check.h"

__global__ void reverse(float *data, int count) {
    extern __shared__ float held[];
    for (int i = threadIdx.x; i < count; i += blockDim.x) held[i] = data[i];
    __syncthreads();
    for (int i = threadIdx.x; i < count; i += blockDim.x) data[i] = held[count - 1 - i];
}

struct Shape {
    __device__ virtual float area() const = 0;
    __device__ virtual ~Shape() {}
};
struct Square : Shape {
    float side;
    __device__ explicit Square(float side) : side(side) {}
    __device__ float area() const override { return side * side; }
};

__global__ void heap(float *areas) {
    Shape *shape = new Square(threadIdx.x);
    int *numbers = (int *)malloc(100 * sizeof(int));
    for (int i = 0; i < 100; ++i) numbers[i] = i;
    areas[threadIdx.x] = shape->area() + numbers[99];
    free(numbers);
    delete shape;
}

__device__ int twice(int x) { return 2 * x; }
__device__ int halve(int x) { return x / 2; }
typedef int (*Function)(int);
__device__ Function chosen;

__global__ void make(Shape **shape) { *shape = new Square(6); chosen = threadIdx.y ? halve : twice; }
__global__ void use(Shape **shape, float *areas) { areas[threadIdx.x] = (*shape)->area() + chosen(threadIdx.x); }
__global__ void unmake(Shape **shape) { delete *shape; }

__global__ void count_blocks(int *counts, int *total) {
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    if (threadIdx.x == 0) counts[blockIdx.x] = blockIdx.x + 1;
    grid.sync();
    if (grid.thread_rank() == 0)
        for (int i = 0; i < gridDim.x; ++i) *total += counts[i];
}

__global__ void __launch_bounds__(64) small(int *data) { data[0] = 1; }
__global__ void asserts(int limit) { assert(threadIdx.x < limit && "too many threads"); }

int main() {
    const int count = 20000;
    float *data, *areas;
    OK(cudaMallocManaged(&data, count * sizeof(float)));
    for (int i = 0; i < count; ++i) data[i] = i;
    reverse<<<1, 256, count * sizeof(float)>>>(data, count);
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
    OK(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, count * sizeof(float)));
    cudaFuncAttributes attributes;
    OK(cudaFuncGetAttributes(&attributes, reverse));
    CHECK(attributes.maxDynamicSharedSizeBytes == count * sizeof(float) && attributes.ptxVersion == 90);
    reverse<<<1, 256, count * sizeof(float)>>>(data, count);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < count; ++i) CHECK(data[i] == count - 1 - i);

    size_t limit = 0;
    OK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64 << 20));
    OK(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
    CHECK(limit == 64 << 20);
    OK(cudaMallocManaged(&areas, 64 * sizeof(float)));
    heap<<<1, 64>>>(areas);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < 64; ++i) CHECK(areas[i] == i * i + 99);

    Shape **shape;
    OK(cudaMalloc(&shape, sizeof *shape));
    make<<<1, 1>>>(shape);
    use<<<1, 64>>>(shape, areas);
    unmake<<<1, 1>>>(shape);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < 64; ++i) CHECK(areas[i] == 36 + 2 * i);

    int *counts, *total, blocks = 0;
    OK(cudaMallocManaged(&counts, 1000 * sizeof(int)));
    OK(cudaMallocManaged(&total, sizeof(int)));
    *total = 0;
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, count_blocks, 128, 0));
    CHECK(blocks == 16);
    void *arguments[] = {&counts, &total};
    OK(cudaLaunchCooperativeKernel((void *)count_blocks, 20, 128, arguments));
    OK(cudaDeviceSynchronize());
    CHECK(*total == 210);
    CHECK(cudaLaunchCooperativeKernel((void *)count_blocks, 132 * 16 + 1, 128, arguments) ==
          cudaErrorCooperativeLaunchTooLarge);
    int grid = 0, block = 0;
    OK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, count_blocks));
    CHECK(block == 1024 && grid == 264);

    cudaLaunchConfig_t config = {};
    config.gridDim = 1;
    config.blockDim = 64;
    OK(cudaLaunchKernelEx(&config, heap, areas));
    CHECK(cudaGetLastError() == cudaErrorCooperativeLaunchTooLarge);
    small<<<1, 128>>>(counts);
    CHECK(cudaGetLastError() == cudaErrorLaunchOutOfResources);

    asserts<<<1, 64>>>(64);
    OK(cudaDeviceSynchronize());
    asserts<<<1, 64>>>(32);
    CHECK(cudaDeviceSynchronize() == cudaErrorAssert);
    CHECK(cudaMalloc(&data, 4) == cudaErrorAssert);
    return 0;
}
