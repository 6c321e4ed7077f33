// Add the other half of the array: done in place, a block reads what another one overwrites.
extern "C" __global__ void planted(float *x, float *y)
{
    const int i = blockIdx.x * 64 + threadIdx.x;
    x[i] = x[i] + x[(i + 64) % 128];  // PLANTED
}

extern "C" __global__ void sound(float *x, float *y)
{
    const int i = blockIdx.x * 64 + threadIdx.x;
    y[i] = x[i] + x[(i + 64) % 128];
}
