// The mask in constant memory: see constant.py.
template <typename T>
__constant__ T mask[9] = {1, 6, 2, 7, 3, 8, 4, 9, 5};

template <typename T>
__global__ void constant(const T *x, T *y, int n, int width)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int start = i - width / 2;
    T total = 0;
    for (int j = 0; j < width; ++j)
        if (start + j >= 0 && start + j < n) total += x[start + j] * mask<T>[j];
    y[i] = total;
}
