// Copies keys, one a thread: see merging.py.
template <typename T>
__global__ void copy_keys(const T *x, T *y, unsigned int n)
{
    const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i];
}
