// One launch by cooperative groups: see grid_sync.py.
#include <cooperative_groups.h>

template <typename T>
__device__ T sum_of_block(const T* x, unsigned int n, unsigned long long first, unsigned int step, T* sums) {
    unsigned int tid = threadIdx.x;
    T total = 0;
    unsigned long long i = first + tid, apart = step;
    for (; i + 7 * apart < n; i += 8 * apart) {
        T loaded[8];  // all under way before the first is added
        for (unsigned int k = 0; k < 8; ++k) loaded[k] = x[i + k * apart];
        for (unsigned int k = 0; k < 8; ++k) total += loaded[k];
    }
    for (; i < n; i += apart) total += x[i];
    sums[tid] = total;
    __syncthreads();
    for (unsigned int stride = blockDim.x / 2; stride > 0; stride >>= 1) {
        if (tid < stride) sums[tid] += sums[tid + stride];
        __syncthreads();
    }
    return sums[0];
}

template <typename T>
__global__ void grid_sync(const T* x, T* partial, unsigned int n) {
    __shared__ T sums[1024];
    T sum = sum_of_block(x, n, blockIdx.x * blockDim.x, gridDim.x * blockDim.x, sums);
    if (threadIdx.x == 0) partial[blockIdx.x] = sum;
    cooperative_groups::this_grid().sync();
    if (blockIdx.x > 0) return;
    sum = sum_of_block(partial, gridDim.x, 0, blockDim.x, sums);
    if (threadIdx.x == 0) partial[0] = sum;
}
