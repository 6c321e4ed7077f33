extern "C" __global__ void add(const float *x, const float *y, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;  // one element a thread: too few threads for large n
    if (i < n)
        out[i] = x[i] + y[i];
}
