// Sums of several rows under way, in registers: see rolling_rows.py.

// COLUMNS x ROWS elements of p from column and row (left, top) on. WHOLE: all that they need lies in the picture.
template <typename T, int HEIGHT, int WIDTH, int COLUMNS, int ROWS, bool WHOLE>
__device__ __forceinline__ void roll(T *__restrict__ p, const T *__restrict__ n, long long rows, long long columns,
                                     const T (&weights)[HEIGHT][WIDTH], long long top, long long left)
{
    constexpr int ACROSS = WIDTH + COLUMNS - 1;
    T total[ROWS][COLUMNS] = {};  // of which HEIGHT rows are under way at a time
#pragma unroll
    for (int i = 0; i < ROWS + HEIGHT - 1; ++i) {
        const long long row = top + i - HEIGHT / 2;
        T window[ACROSS];
#pragma unroll
        for (int v = 0; v < ACROSS; ++v) {
            const long long column = left + v - WIDTH / 2;
            const bool inside = WHOLE || (row >= 0 && row < rows && column >= 0 && column < columns);
            window[v] = inside ? n[row * columns + column] : T(0);
        }
#pragma unroll
        for (int u = 0; u < HEIGHT; ++u)
            if (i - u >= 0 && i - u < ROWS)
#pragma unroll
                for (int c = 0; c < COLUMNS; ++c)
#pragma unroll
                    for (int v = 0; v < WIDTH; ++v) total[i - u][c] += window[c + v] * weights[u][v];
        const int done = i - HEIGHT + 1;
        if (done >= 0)
#pragma unroll
            for (int c = 0; c < COLUMNS; ++c)
                if (WHOLE || (top + done < rows && left + c < columns))
                    p[(top + done) * columns + left + c] = total[done][c];
    }
}

template <typename T, int HEIGHT, int WIDTH, int COLUMNS, int ROWS>
__global__ void rolling_rows(T *__restrict__ p, const T *__restrict__ n, long long rows, long long columns,
                             const T *__restrict__ mask)
{
    T weights[HEIGHT][WIDTH];
#pragma unroll
    for (int k = 0; k < HEIGHT * WIDTH; ++k) weights[k / WIDTH][k % WIDTH] = mask[k];
    const int span = blockDim.x * COLUMNS;
    const long long across = (columns + span - 1) / span;
    const long long first = blockIdx.x % across * span, top = blockIdx.x / across * ROWS;
    const long long left = first + threadIdx.x * COLUMNS;
    if (top >= HEIGHT / 2 && top + ROWS + HEIGHT <= rows && first >= WIDTH / 2 && first + span + WIDTH <= columns)
        roll<T, HEIGHT, WIDTH, COLUMNS, ROWS, true>(p, n, rows, columns, weights, top, left);
    else if (left < columns)
        roll<T, HEIGHT, WIDTH, COLUMNS, ROWS, false>(p, n, rows, columns, weights, top, left);
}
