// Adds to every span the sum of all spans before it: see propagate.py.
template <typename T>
__global__ void add_offsets(T *y, const T *totals, unsigned int n, unsigned int span)
{
    // The first span needs nothing: block b works on span b + 1.
    const T offset = totals[blockIdx.x];
    const unsigned int first = (blockIdx.x + 1) * span;
    for (unsigned int i = threadIdx.x; i < span; i += blockDim.x)
        if (first + i < n) y[first + i] += offset;
}
