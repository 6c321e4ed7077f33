// A loop over the grid: see grid_stride.py.
template <typename T>
__global__ void grid_stride(const T *x, const T *y, T *z, unsigned int n)
{
    for (unsigned int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        z[i] = x[i] + y[i];
}
