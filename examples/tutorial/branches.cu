// Lesson 3: the same work twice. First neighbouring threads go different ways, then whole warps do.
__device__ float squares(float x)
{
    for (int k = 0; k < 16; ++k) x = x * x * 0.5f + 0.125f;
    return x;
}

__device__ float roots(float x)
{
    for (int k = 0; k < 16; ++k) x = sqrtf(x + 0.125f);
    return x;
}

extern "C" __global__ void by_lane(const float *x, float *y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i % 2) y[i] = squares(x[i]);
    else y[i] = roots(x[i]);
}

extern "C" __global__ void by_warp(const float *x, float *y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i / 32 % 2) y[i] = squares(x[i]);
    else y[i] = roots(x[i]);
}
