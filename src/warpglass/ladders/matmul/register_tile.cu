// 4 x 4 elements a thread: see register_tile.py.
template <typename T>
__global__ void register_tile(const T *a, const T *b, T *c, unsigned int n)
{
    __shared__ T a_tile[64][16], b_tile[16][64];
    const unsigned int x = threadIdx.x, y = threadIdx.y, thread = y * 16 + x;
    const unsigned int row = blockIdx.y * 64 + y, first = blockIdx.x * 64, column = first + x;
    T totals[4][4] = {};
    for (unsigned int start = 0; start < n; start += 16) {
#pragma unroll
        for (unsigned int i = 0; i < 4; ++i) {
            const unsigned int below = row + 16 * i;
            a_tile[y + 16 * i][x] = below < n && start + x < n ? a[below * n + start + x] : T(0);
            // Four rows of 64 at a time: a row of B's tile is two warps, whose stores meet in no bank.
            const unsigned int down = thread / 64 + 4 * i, across = thread % 64;
            const bool inside = start + down < n && first + across < n;
            b_tile[down][across] = inside ? b[(start + down) * n + first + across] : T(0);
        }
        __syncthreads();
#pragma unroll
        for (unsigned int k = 0; k < 16; ++k) {
            T of_a[4], of_b[4];
#pragma unroll
            for (unsigned int i = 0; i < 4; ++i) of_a[i] = a_tile[y + 16 * i][k], of_b[i] = b_tile[k][x + 16 * i];
#pragma unroll
            for (unsigned int i = 0; i < 4; ++i)
#pragma unroll
                for (unsigned int j = 0; j < 4; ++j) totals[i][j] += of_a[i] * of_b[j];
        }
        __syncthreads();
    }
#pragma unroll
    for (unsigned int i = 0; i < 4; ++i)
#pragma unroll
        for (unsigned int j = 0; j < 4; ++j)
            if (row + 16 * i < n && column + 16 * j < n)
                c[(row + 16 * i) * n + column + 16 * j] = totals[i][j];
}
