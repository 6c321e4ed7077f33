// Only some lanes of a warp come to the first barrier, the others go on to the second.
extern "C" __global__ void planted(float *y)
{
    __shared__ float tile[64];
    tile[threadIdx.x] = threadIdx.x;
    if (threadIdx.x < 48) __syncthreads();  // PLANTED
    y[threadIdx.x] = tile[threadIdx.x];
    __syncthreads();
}

extern "C" __global__ void sound(float *y)
{
    __shared__ float tile[64];
    tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    y[threadIdx.x] = tile[threadIdx.x];
    __syncthreads();
}
