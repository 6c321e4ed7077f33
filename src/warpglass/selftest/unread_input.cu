// Whole blocks only: the tail of the input, which must be read whole, is left out.
extern "C" __global__ void planted(const float *x, float *y, int n)  // PLANTED
{
    float sum = 0;
    for (int i = threadIdx.x; i < n / 64 * 64; i += 64) sum += x[i];
    y[threadIdx.x] = sum;
}

extern "C" __global__ void sound(const float *x, float *y, int n)
{
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += 64) sum += x[i];
    y[threadIdx.x] = sum;
}
