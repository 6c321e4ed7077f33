// Reverse a row of one warp: its lanes need not run in lockstep, so they must wait for each other.
extern "C" __global__ void planted(const float *x, float *y)
{
    __shared__ float row[32];
    row[threadIdx.x] = x[threadIdx.x];
    y[threadIdx.x] = row[31 - threadIdx.x];  // PLANTED
}

extern "C" __global__ void sound(const float *x, float *y)
{
    __shared__ float row[32];
    row[threadIdx.x] = x[threadIdx.x];
    __syncwarp();
    y[threadIdx.x] = row[31 - threadIdx.x];
}
