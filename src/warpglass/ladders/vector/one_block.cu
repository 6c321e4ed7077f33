// One block, a thread for every element: see one_block.py.
template <typename T>
__global__ void one_block(const T *x, const T *y, T *z, unsigned int n)
{
    const unsigned int i = threadIdx.x;
    if (i < n) z[i] = x[i] + y[i];
}
