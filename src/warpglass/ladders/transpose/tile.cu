// A tile in shared memory, its rows PADDING elements longer than 32: see tile.py and padded_tile.py.
template <typename T, int PADDING>
__global__ void tile(const T *a, T *b, unsigned int rows, unsigned int columns)
{
    __shared__ T held[32][32 + PADDING];
    const unsigned int x = threadIdx.x, left = blockIdx.x * 32, top = blockIdx.y * 32;
#pragma unroll
    for (unsigned int step = 0; step < 32; step += 8) {
        const unsigned int down = threadIdx.y + step;
        if (top + down < rows && left + x < columns) held[down][x] = a[(top + down) * columns + left + x];
    }
    __syncthreads();
#pragma unroll
    for (unsigned int step = 0; step < 32; step += 8) {
        const unsigned int down = threadIdx.y + step;
        if (left + down < columns && top + x < rows) b[(left + down) * rows + top + x] = held[x][down];
    }
}
