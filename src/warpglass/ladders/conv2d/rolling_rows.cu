// Sums of several rows under way, in registers: see rolling_rows.py.

template <typename T, int N>
struct alignas(N * sizeof(T)) Pack {
    T values[N];
};

// How much of the picture is there: all that a thread needs, in packs of its COLUMNS; all; or only some.
enum class Fit { PACKED, WHOLE, BROKEN };

// COLUMNS x ROWS elements of p from column and row (left, top) on.
template <typename T, int HEIGHT, int WIDTH, int COLUMNS, int ROWS, Fit FIT>
__device__ __forceinline__ void roll(T *__restrict__ p, const T *__restrict__ n, long long rows, long long columns,
                                     const T (&weights)[HEIGHT][WIDTH], long long top, long long left)
{
    constexpr bool PACKED = FIT == Fit::PACKED;
    constexpr int BEFORE = PACKED ? (WIDTH / 2 + COLUMNS - 1) / COLUMNS * COLUMNS : WIDTH / 2;
    constexpr int ACROSS = PACKED ? BEFORE + (WIDTH - WIDTH / 2 + 2 * COLUMNS - 2) / COLUMNS * COLUMNS : WIDTH + COLUMNS - 1;
    using P = Pack<T, COLUMNS>;
    T total[ROWS][COLUMNS] = {};  // of which HEIGHT rows are under way at a time
#pragma unroll
    for (int i = 0; i < ROWS + HEIGHT - 1; ++i) {
        const long long row = top + i - HEIGHT / 2;
        T window[ACROSS];
        if constexpr (PACKED) {
#pragma unroll
            for (int v = 0; v < ACROSS; v += COLUMNS) {
                const P pack = *reinterpret_cast<const P *>(&n[row * columns + left + v - BEFORE]);
#pragma unroll
                for (int k = 0; k < COLUMNS; ++k) window[v + k] = pack.values[k];
            }
        } else {
#pragma unroll
            for (int v = 0; v < ACROSS; ++v) {
                const long long column = left + v - BEFORE;
                const bool inside = FIT == Fit::WHOLE || (row >= 0 && row < rows && column >= 0 && column < columns);
                window[v] = inside ? n[row * columns + column] : T(0);
            }
        }
#pragma unroll
        for (int u = 0; u < HEIGHT; ++u)
            if (i - u >= 0 && i - u < ROWS)
#pragma unroll
                for (int c = 0; c < COLUMNS; ++c)
#pragma unroll
                    for (int v = 0; v < WIDTH; ++v)
                        total[i - u][c] += window[BEFORE - WIDTH / 2 + c + v] * weights[u][v];
        const int done = i - HEIGHT + 1;
        if (done >= 0) {
            if constexpr (PACKED) {
                P pack;
#pragma unroll
                for (int c = 0; c < COLUMNS; ++c) pack.values[c] = total[done][c];
                *reinterpret_cast<P *>(&p[(top + done) * columns + left]) = pack;
            } else {
#pragma unroll
                for (int c = 0; c < COLUMNS; ++c)
                    if (FIT == Fit::WHOLE || (top + done < rows && left + c < columns))
                        p[(top + done) * columns + left + c] = total[done][c];
            }
        }
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
    const long long own = first + threadIdx.x / 32 * (32 * COLUMNS);  // where the warp begins: edges are for few of them
    const size_t places = reinterpret_cast<size_t>(p) | reinterpret_cast<size_t>(n) | columns * sizeof(T);
    if (top >= HEIGHT / 2 && top + ROWS + HEIGHT <= rows && own >= WIDTH + COLUMNS && own + 32 * COLUMNS + WIDTH + COLUMNS <= columns) {
        if (places % sizeof(Pack<T, COLUMNS>) == 0)
            roll<T, HEIGHT, WIDTH, COLUMNS, ROWS, Fit::PACKED>(p, n, rows, columns, weights, top, left);
        else
            roll<T, HEIGHT, WIDTH, COLUMNS, ROWS, Fit::WHOLE>(p, n, rows, columns, weights, top, left);
    } else if (left < columns)
        roll<T, HEIGHT, WIDTH, COLUMNS, ROWS, Fit::BROKEN>(p, n, rows, columns, weights, top, left);
}
