// Lesson 2: registers, constant, shared and global memory in one kernel: a polynomial of every element, and
// the largest value of each block.
__constant__ float coefficients[4] = {1.0f, -0.5f, 0.25f, -0.125f};

extern "C" __global__ void largest(const float *x, float *result, int n)
{
    __shared__ float values[256];
    const int t = threadIdx.x;
    const int i = blockIdx.x * blockDim.x + t;
    const float here = i < n ? x[i] : 0;
    float sum = 0;
    for (int k = 3; k >= 0; --k) sum = sum * here + coefficients[k];
    values[t] = sum;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half) values[t] = fmaxf(values[t], values[t + half]);
        __syncthreads();
    }
    if (t == 0) result[blockIdx.x] = values[0];
}

// The same, but the threads behind the array leave their places in shared memory as they find them.
extern "C" __global__ void largest_unset(const float *x, float *result, int n)
{
    __shared__ float values[256];
    const int t = threadIdx.x;
    const int i = blockIdx.x * blockDim.x + t;
    if (i < n) values[t] = x[i];
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half) values[t] = fmaxf(values[t], values[t + half]);
        __syncthreads();
    }
    if (t == 0) result[blockIdx.x] = values[0];
}
