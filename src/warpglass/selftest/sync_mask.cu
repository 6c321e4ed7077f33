// Sixteen lanes take the value of the first; the mask must name them and no others.
extern "C" __global__ void planted(const float *x, float *y)
{
    if (threadIdx.x < 16) {
        y[threadIdx.x] = __shfl_sync(0xffffffff, x[threadIdx.x], 0);  // PLANTED
    }
}

extern "C" __global__ void sound(const float *x, float *y)
{
    if (threadIdx.x < 16) {
        y[threadIdx.x] = __shfl_sync(0x0000ffff, x[threadIdx.x], 0);
    }
}
