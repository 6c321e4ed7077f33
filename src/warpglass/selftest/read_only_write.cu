// The input may only be read, and yet the result is written to it.
extern "C" __global__ void planted(float *x, float *y)
{
    x[threadIdx.x] = 2 * x[threadIdx.x];  // PLANTED
}

extern "C" __global__ void sound(float *x, float *y)
{
    y[threadIdx.x] = 2 * x[threadIdx.x];
}
