// Hillis and Steele's scan in shared memory, with two buffers: see hillis_steele.py.
template <typename T>
__global__ void hillis_steele(const T *x, T *y, T *totals, unsigned int n)
{
    // One untyped buffer: `extern __shared__ T` would be declared twice if two types were compiled together.
    extern __shared__ __align__(16) unsigned char raw[];
    const unsigned int t = threadIdx.x;
    const unsigned int i = blockIdx.x * blockDim.x + t;
    T *from = reinterpret_cast<T *>(raw), *to = from + blockDim.x;

    from[t] = i < n ? x[i] : T(0);
    for (unsigned int stride = 1; stride < blockDim.x; stride *= 2) {
        __syncthreads();
        to[t] = t >= stride ? from[t - stride] + from[t] : from[t];
        T *const full = to;
        to = from;
        from = full;
    }

    if (i < n) y[i] = from[t];
    if (t == blockDim.x - 1) totals[blockIdx.x] = from[t];
}
