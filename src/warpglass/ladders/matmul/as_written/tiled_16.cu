// Whole tiles only, and no guards: see tiled_16.py.
template <typename T, unsigned int TILE>
__global__ void tiled(const T *a, const T *b, T *c, unsigned int n)
{
    __shared__ T a_tile[TILE][TILE], b_tile[TILE][TILE];
    const unsigned int x = threadIdx.x, y = threadIdx.y;
    const unsigned int row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    T total = 0;
    for (unsigned int phase = 0; phase < n / TILE; ++phase) {
        a_tile[y][x] = a[row * n + phase * TILE + x];
        b_tile[y][x] = b[(phase * TILE + y) * n + column];
        __syncthreads();
        for (unsigned int k = 0; k < TILE; ++k) total += a_tile[y][k] * b_tile[k][x];
        __syncthreads();
    }
    c[row * n + column] = total;
}
