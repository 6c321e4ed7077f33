// A tile in shared memory, its halo in the caches: see tiled_l2.py.
template <typename T>
__constant__ T mask[9] = {1, 6, 2, 7, 3, 8, 4, 9, 5};

template <typename T>
__global__ void tiled_l2(const T *x, T *y, int n, int width)
{
    extern __shared__ __align__(16) unsigned char raw[];
    T *tile = reinterpret_cast<T *>(raw);
    const int tid = threadIdx.x, first = blockIdx.x * blockDim.x, i = first + tid, behind = first + blockDim.x;
    if (i < n) tile[tid] = x[i];
    __syncthreads();
    if (i >= n) return;
    T total = 0;
    for (int j = 0; j < width; ++j) {
        const int at = i - width / 2 + j;
        if (at >= 0 && at < n) total += (at >= first && at < behind ? tile[at - first] : x[at]) * mask<T>[j];
    }
    y[i] = total;
}
