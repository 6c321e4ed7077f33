// A tile is padded, but nobody sets the padding.
extern "C" __global__ void planted(const float *x, float *y)
{
    __shared__ float tile[40];
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = 2 * tile[threadIdx.x + 8];  // PLANTED
}

extern "C" __global__ void sound(const float *x, float *y)
{
    __shared__ float tile[40];
    tile[threadIdx.x] = x[threadIdx.x];
    if (threadIdx.x < 8) tile[32 + threadIdx.x] = 0;
    __syncthreads();
    y[threadIdx.x] = 2 * tile[threadIdx.x + 8];
}
