// 16-byte loads for 4 x 4 elements a thread: see vector_loads.py.
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
__global__ void vector_loads(const T *a, const T *b, T *c, unsigned int n)
{
    __shared__ Four<T> a_tile[64][4], b_tile[16][16];  // 64 x 16 and 16 x 64 elements
    const unsigned int x = threadIdx.x, y = threadIdx.y, thread = y * 16 + x;
    const unsigned int row = blockIdx.y * 64, column = blockIdx.x * 64;
    Four<T> totals[4] = {};
    for (unsigned int start = 0; start < n; start += 16) {
        a_tile[thread / 4][thread % 4] = load(a, row + thread / 4, start + thread % 4 * 4, n);
        b_tile[y][x] = load(b, start + y, column + x * 4, n);
        __syncthreads();
#pragma unroll
        for (unsigned int k = 0; k < 4; ++k) {
            Four<T> of_a[4];
#pragma unroll
            for (unsigned int i = 0; i < 4; ++i) of_a[i] = a_tile[y + 16 * i][k];
#pragma unroll
            for (unsigned int step = 0; step < 4; ++step) {
                const Four<T> of_b = b_tile[k * 4 + step][x];
#pragma unroll
                for (unsigned int i = 0; i < 4; ++i)
#pragma unroll
                    for (unsigned int j = 0; j < 4; ++j) totals[i].of[j] += of_a[i].of[step] * of_b.of[j];
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (unsigned int i = 0; i < 4; ++i) store(c, row + y + 16 * i, column + 4 * x, n, totals[i]);
}
