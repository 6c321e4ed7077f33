// 8 x 8 elements a thread: see wide_tile.py.
template <typename T>
struct alignas(16) Four {
    T of[4];
};

// Elements (row, column) to (row, column + 3) of a matrix, 0 where there are none.
template <typename T>
__device__ Four<T> load(const T *matrix, unsigned int row, unsigned int column, unsigned int n)
{
    Four<T> found = {};
    if (row >= n || column >= n) return found;
    if (n % 4 == 0) return *reinterpret_cast<const Four<T> *>(matrix + row * n + column);
#pragma unroll
    for (unsigned int i = 0; i < 4; ++i)
        if (column + i < n) found.of[i] = matrix[row * n + column + i];
    return found;
}

// The same, written: only elements that there are.
template <typename T>
__device__ void store(T *matrix, unsigned int row, unsigned int column, unsigned int n, const Four<T> &values)
{
    if (row >= n || column >= n) return;
    if (n % 4 == 0) {
        *reinterpret_cast<Four<T> *>(matrix + row * n + column) = values;
        return;
    }
#pragma unroll
    for (unsigned int i = 0; i < 4; ++i)
        if (column + i < n) matrix[row * n + column + i] = values.of[i];
}

template <typename T>
__global__ void __launch_bounds__(256) wide_tile(const T *a, const T *b, T *c, unsigned int n)
{
    // 8 x 128 elements each, A's turned around; a fourth more of four keeps its stores in different banks.
    __shared__ Four<T> a_tile[8][33], b_tile[8][32];
    const unsigned int x = threadIdx.x, y = threadIdx.y, thread = y * 16 + x;
    const unsigned int row = blockIdx.y * 128, column = blockIdx.x * 128;
    Four<T> totals[8][2] = {};
    for (unsigned int start = 0; start < n; start += 8) {
        const unsigned int down = thread / 2, across = thread % 2 * 4;
        const Four<T> of_row = load(a, row + down, start + across, n);
#pragma unroll
        for (unsigned int i = 0; i < 4; ++i) a_tile[across + i][down / 4].of[down % 4] = of_row.of[i];
        b_tile[thread / 32][thread % 32] = load(b, start + thread / 32, column + thread % 32 * 4, n);
        __syncthreads();
#pragma unroll 2
        for (unsigned int k = 0; k < 8; ++k) {
            const Four<T> of_a[2] = {a_tile[k][y], a_tile[k][16 + y]};
            const Four<T> of_b[2] = {b_tile[k][x], b_tile[k][16 + x]};
#pragma unroll
            for (unsigned int i = 0; i < 8; ++i)
#pragma unroll
                for (unsigned int j = 0; j < 8; ++j)
                    totals[i][j / 4].of[j % 4] += of_a[i / 4].of[i % 4] * of_b[j / 4].of[j % 4];
        }
        __syncthreads();
    }
#pragma unroll
    for (unsigned int i = 0; i < 8; ++i)
#pragma unroll
        for (unsigned int j = 0; j < 2; ++j)
            store(c, row + i / 4 * 64 + 4 * y + i % 4, column + j * 64 + 4 * x, n, totals[i][j]);
}
