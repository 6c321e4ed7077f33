// The stride is the square of the block: see grid_stride.py.
template <typename T>
__global__ void grid_stride(const T *x, const T *y, T *z, unsigned int n)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    while (i < n) {
        z[i] = x[i] + y[i];
        i += blockDim.x * blockDim.x;
    }
}
