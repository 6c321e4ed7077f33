// Tiles in shared memory: see tiled_16.py and tiled_32.py.
template <typename T, unsigned int TILE>
__global__ void tiled(const T *a, const T *b, T *c, unsigned int n)
{
    __shared__ T a_tile[TILE][TILE], b_tile[TILE][TILE];
    const unsigned int x = threadIdx.x, y = threadIdx.y;
    const unsigned int row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    T total = 0;
    for (unsigned int start = 0; start < n; start += TILE) {
        a_tile[y][x] = row < n && start + x < n ? a[row * n + start + x] : T(0);
        b_tile[y][x] = start + y < n && column < n ? b[(start + y) * n + column] : T(0);
        __syncthreads();
        for (unsigned int k = 0; k < TILE; ++k) total += a_tile[y][k] * b_tile[k][x];
        __syncthreads();
    }
    if (row < n && column < n) c[row * n + column] = total;
}
