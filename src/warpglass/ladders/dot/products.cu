// Products on the device, for the host to add: see products.py.
template <typename T>
__global__ void products(const T *x, const T *y, T *z, unsigned int n)
{
    for (unsigned int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        z[i] = x[i] * y[i];
}
