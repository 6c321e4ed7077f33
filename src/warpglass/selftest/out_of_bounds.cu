// The last block has more threads than there are elements left.
extern "C" __global__ void planted(float *y, int n)
{
    const int i = blockIdx.x * 64 + threadIdx.x;
    y[i] = i;  // PLANTED
}

extern "C" __global__ void sound(float *y, int n)
{
    const int i = blockIdx.x * 64 + threadIdx.x;
    if (i < n) y[i] = i;
}
