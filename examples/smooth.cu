// The mean of three neighbours, by way of shared memory: `smooth` lacks a barrier, `smooth_right` has it.
#define BLOCK 128

extern "C" __global__ void smooth(const float *x, float *y, int n)
{
    __shared__ float tile[BLOCK + 2];
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    tile[threadIdx.x + 1] = i < n ? x[i] : 0;
    if (threadIdx.x == 0) tile[0] = i > 0 ? x[i - 1] : 0;
    if (threadIdx.x == BLOCK - 1) tile[BLOCK + 1] = i + 1 < n ? x[i + 1] : 0;
    if (i < n) y[i] = (tile[threadIdx.x] + tile[threadIdx.x + 1] + tile[threadIdx.x + 2]) / 3;
}

extern "C" __global__ void smooth_right(const float *x, float *y, int n)
{
    __shared__ float tile[BLOCK + 2];
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    tile[threadIdx.x + 1] = i < n ? x[i] : 0;
    if (threadIdx.x == 0) tile[0] = i > 0 ? x[i - 1] : 0;
    if (threadIdx.x == BLOCK - 1) tile[BLOCK + 1] = i + 1 < n ? x[i + 1] : 0;
    __syncthreads();
    if (i < n) y[i] = (tile[threadIdx.x] + tile[threadIdx.x + 1] + tile[threadIdx.x + 2]) / 3;
}

// One block fills a table, the other uses it if it is ready: a flag without fences hands nothing over.
extern "C" __global__ void hand_over(int *table, int *ready, int *y)
{
    if (blockIdx.x == 1) {
        table[threadIdx.x] = threadIdx.x;
        atomicExch(ready, 1);
    } else if (atomicAdd(ready, 0) == 1) {
        y[threadIdx.x] = table[threadIdx.x];
    }
}
