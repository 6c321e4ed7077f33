// Reverse a tile: who reads an element must wait for the warp that stores it.
extern "C" __global__ void planted(const float *x, float *y)
{
    __shared__ float tile[64];
    tile[threadIdx.x] = x[threadIdx.x];
    y[threadIdx.x] = tile[63 - threadIdx.x];  // PLANTED
}

extern "C" __global__ void sound(const float *x, float *y)
{
    __shared__ float tile[64];
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = tile[63 - threadIdx.x];
}
