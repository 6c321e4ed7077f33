// One element a thread: see naive.py.
template <typename T>
__global__ void naive(const T *a, const T *b, T *c, unsigned int n)
{
    const unsigned int row = blockIdx.y * blockDim.y + threadIdx.y;
    const unsigned int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n || column >= n) return;
    T total = 0;
    for (unsigned int k = 0; k < n; ++k) total += a[row * n + k] * b[k * n + column];
    c[row * n + column] = total;
}
