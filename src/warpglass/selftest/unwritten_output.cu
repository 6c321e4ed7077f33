// Whole blocks only: the tail of the output, which must be written whole, is left out.
extern "C" __global__ void planted(float *y, int n)  // PLANTED
{
    const int i = blockIdx.x * 64 + threadIdx.x;
    if (i < n / 64 * 64) y[i] = i;
}

extern "C" __global__ void sound(float *y, int n)
{
    const int i = blockIdx.x * 64 + threadIdx.x;
    if (i < n) y[i] = i;
}
