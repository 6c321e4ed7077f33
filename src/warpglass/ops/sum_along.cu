// Sums along one axis: see sum_along.py. Blocks have 256 threads.
#include <cuda_fp16.h>

typedef unsigned long long Count;
enum : unsigned int { BLOCK = 256, WARPS = BLOCK / 32, FEW = 32, ALL = 0xffffffffu };

template <typename T>
struct alignas(16) Pack {
    static constexpr unsigned int SIZE = 16 / sizeof(T);
    T values[SIZE];
};

// A few elements are added in a type that is wide enough for them: 16 bytes of small integers in an int.
template <typename T, typename A>
struct Partial {
    using Type = A;
};
template <typename A> struct Partial<bool, A> { using Type = int; };
template <typename A> struct Partial<signed char, A> { using Type = int; };
template <typename A> struct Partial<unsigned char, A> { using Type = int; };
template <typename A> struct Partial<short, A> { using Type = int; };
template <typename A> struct Partial<unsigned short, A> { using Type = int; };

// The sum of N values as a tree.
template <typename P, unsigned int N, typename T>
__device__ __forceinline__ P tree(const T *values)
{
    if constexpr (N == 1)
        return P(values[0]);
    else
        return tree<P, N / 2>(values) + tree<P, N / 2>(values + N / 2);
}

// In lane 0 of each `lanes`, a power of two.
template <typename A>
__device__ A sum_of_lanes(A value, unsigned int lanes)
{
    for (unsigned int distance = lanes / 2; distance > 0; distance /= 2)
        value += __shfl_down_sync(ALL, value, distance, lanes);
    return value;
}

// In thread 0.
template <typename A>
__device__ A sum_of_block(A value)
{
    __shared__ A sums[WARPS];
    const unsigned int t = threadIdx.x;
    value = sum_of_lanes(value, 32);
    if (t % 32 == 0) sums[t / 32] = value;
    __syncthreads();
    return t < 32 ? sum_of_lanes(t < WARPS ? sums[t] : A(-0.0), 32) : value;
}

// Whether this is the last of `count` blocks to come here: it sees what the others have stored before.
__device__ bool is_last(unsigned int *ticket, unsigned int count)
{
    __shared__ bool last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicInc(ticket, count - 1) == count - 1;
    __syncthreads();
    return last;
}

// The sum of UNROLL packs that lie `threads` apart, all of which are under way at once. Of a row's LAST ones some may
// not be there: another is loaded instead, and -0 added, which changes nothing, not even another -0.
template <bool LAST, unsigned int UNROLL, typename A, typename T>
__device__ __forceinline__ A sum_of_packs(const Pack<T> *packs, Count i, Count count, unsigned int threads)
{
    using P = typename Partial<T, A>::Type;
    Pack<T> loaded[UNROLL];
    A part[UNROLL];
#pragma unroll
    for (unsigned int k = 0; k < UNROLL; ++k) loaded[k] = packs[LAST ? min(i + k * threads, count - 1) : i + k * threads];
#pragma unroll
    for (unsigned int k = 0; k < UNROLL; ++k)
        part[k] = LAST && i + k * threads >= count ? A(-0.0) : A(tree<P, Pack<T>::SIZE>(loaded[k].values));
    return tree<A, UNROLL>(part);
}

// The sum of a thread's share of a row: packs between the first multiple of 16 bytes and the last, and what is outside.
template <unsigned int UNROLL, typename A, typename T>
__device__ A sum_of_row(const T *row, Count n, unsigned int thread, unsigned int threads)
{
    const Count unaligned = -reinterpret_cast<Count>(row) % 16 / sizeof(T), before = min(n, unaligned);
    const Count count = (n - before) / Pack<T>::SIZE, behind = before + count * Pack<T>::SIZE;
    const Pack<T> *packs = reinterpret_cast<const Pack<T> *>(row + before);
    A total = A(-0.0);
    Count i = thread;
    for (; i + (UNROLL - 1) * threads < count; i += UNROLL * threads)
        total += sum_of_packs<false, UNROLL, A>(packs, i, count, threads);
    if (i < count) total += sum_of_packs<true, UNROLL, A>(packs, i, count, threads);
    for (i = thread; i < before; i += threads) total += A(row[i]);
    for (i = behind + thread; i < n; i += threads) total += A(row[i]);
    return total;
}

// Sums of rows, each by so many lanes of a warp.
template <typename T, typename A, typename R, unsigned int UNROLL>
__global__ void __launch_bounds__(BLOCK) add_short_rows(const T *x, R *y, Count outer, Count n, unsigned int lanes)
{
    const Count row = static_cast<Count>(blockIdx.x) * (BLOCK / lanes) + threadIdx.x / lanes;
    A total = A(-0.0);
    if (row < outer) total = sum_of_row<UNROLL, A>(x + row * n, n, threadIdx.x % lanes, lanes);
    total = sum_of_lanes(total, lanes);
    if (row < outer && threadIdx.x % lanes == 0) y[row] = R(total);
}

// Sums of long rows, each by so many blocks, of which the last adds the others' sums in their order.
template <typename T, typename A, typename R, unsigned int UNROLL>
__global__ void __launch_bounds__(BLOCK)
add_rows(const T *x, R *y, A *parts, unsigned int *tickets, Count n, unsigned int pieces, Count span)
{
    const unsigned int t = threadIdx.x, row = blockIdx.x / pieces, piece = blockIdx.x % pieces;
    const Count first = piece * span;
    A total = sum_of_row<UNROLL, A>(x + row * n + first, first < n ? min(span, n - first) : 0, t, BLOCK);
    total = sum_of_block(total);
    if (pieces > 1) {
        if (t == 0) parts[blockIdx.x] = total;
        if (!is_last(&tickets[row], pieces)) return;
        total = A(-0.0);
        for (unsigned int i = t; i < pieces; i += BLOCK) total += __ldcg(&parts[row * pieces + i]);
        __syncthreads();
        total = sum_of_block(total);
    }
    if (t == 0) y[row] = R(total);
}

// Sums of short rows: a block brings as many rows as it has threads to shared memory, as one run of memory.
template <typename T, typename A, typename R>
__global__ void __launch_bounds__(BLOCK) add_tiny_rows(const T *x, R *y, Count outer, unsigned int n)
{
    extern __shared__ uint4 tile[];
    using P = typename Partial<T, A>::Type;
    const unsigned int t = threadIdx.x, rows = min(static_cast<Count>(BLOCK), outer - static_cast<Count>(blockIdx.x) * BLOCK);
    const Count first = static_cast<Count>(blockIdx.x) * BLOCK;
    T *const held = reinterpret_cast<T *>(tile);
    x += first * n;
    const bool wide = reinterpret_cast<Count>(x) % 16 == 0;
    const unsigned int size = rows * n, packs = wide ? size / Pack<T>::SIZE : 0;
#pragma unroll 4
    for (unsigned int i = t; i < packs; i += BLOCK) reinterpret_cast<Pack<T> *>(held)[i] = reinterpret_cast<const Pack<T> *>(x)[i];
#pragma unroll 4
    for (unsigned int i = packs * Pack<T>::SIZE + t; i < size; i += BLOCK) held[i] = x[i];
    __syncthreads();
    if (t >= rows) return;
    // Each thread begins at another element: rows of a power of two would lie in the same banks.
    P total = P(-0.0);
    unsigned int at = t % n;
#pragma unroll 4
    for (unsigned int k = 0; k < n; ++k) {
        total += P(held[t * n + at]);
        at = at + 1 == n ? 0 : at + 1;
    }
    y[first + t] = R(A(total));
}

// Sums of few elements: a thread for each result.
template <typename T, typename A, typename R>
__global__ void __launch_bounds__(BLOCK) add_few(const T *x, R *y, Count outer, Count n, Count inner)
{
    constexpr unsigned int UNROLL = 8;
    using P = typename Partial<T, A>::Type;
    const Count result = static_cast<Count>(blockIdx.x) * BLOCK + threadIdx.x;
    if (result >= outer * inner) return;
    x += result / inner * n * inner + result % inner;
    A total = A(-0.0);
    for (Count k = 0; k < n; k += UNROLL) {
        P part[UNROLL];
#pragma unroll
        for (unsigned int i = 0; i < UNROLL; ++i) part[i] = k + i < n ? P(x[(k + i) * inner]) : P(-0.0);
        total += A(tree<P, UNROLL>(part));
    }
    y[result] = R(total);
}

// Which columns a thread adds, of those `left` in its block: SIZE that follow one another (`wide`), or, so that a
// warp's loads are of neighbours, SIZE that are `across` apart.
template <unsigned int SIZE>
struct Columns {
    unsigned int across, first, step, present;

    __device__ Columns(bool wide, unsigned int across, Count left)
        : across(across), first(threadIdx.x % across * (wide ? SIZE : 1)), step(wide ? 1 : across),
          present(first < left ? min(static_cast<Count>(SIZE), (left - first + step - 1) / step) : 0)
    {
    }
};

// Adds UNROLL rows from row k on that lie `down` apart to a thread's sums of its columns, of which there is one at
// least. AGAIN: other blocks have written them.
template <bool WIDE, bool LAST, bool AGAIN, unsigned int UNROLL, unsigned int SIZE, typename A, typename T>
__device__ __forceinline__ void add_to_columns(const T *x, Count k, Count end, Count inner, unsigned int down,
                                               const Columns<SIZE> &columns, A (&totals)[SIZE])
{
    using P = typename Partial<T, A>::Type;
    const T *row[UNROLL];
    Pack<T> loaded[UNROLL];
#pragma unroll
    for (unsigned int i = 0; i < UNROLL; ++i) {
        row[i] = x + (LAST ? min(k + i * down, end - 1) : k + i * down) * inner;
        if constexpr (WIDE) loaded[i] = *reinterpret_cast<const Pack<T> *>(row[i]);
    }
#pragma unroll
    for (unsigned int v = 0; v < SIZE; ++v) {
        P part[UNROLL];
        const unsigned int at = min(v, columns.present - 1) * columns.step;  // a sum of no column is not used
#pragma unroll
        for (unsigned int i = 0; i < UNROLL; ++i) {
            if constexpr (WIDE)
                part[i] = P(loaded[i].values[v]);
            else if constexpr (AGAIN)
                part[i] = __ldcg(&row[i][at]);
            else
                part[i] = P(row[i][at]);
            if (LAST && k + i * down >= end) part[i] = P(-0.0);
        }
        totals[v] += A(tree<P, UNROLL>(part));
    }
}

// The sums of a block's columns, rows `begin` to `end`, in `sums`: those of one thread in sums[0][t], sums[1][t], ...
template <bool WIDE, bool AGAIN, unsigned int UNROLL, unsigned int SIZE, typename A, typename T>
__device__ __forceinline__ void sum_columns(const T *x, Count begin, Count end, Count inner, const Columns<SIZE> &columns,
                                            A (&sums)[SIZE][BLOCK])
{
    const unsigned int t = threadIdx.x, down = BLOCK / columns.across;
    A totals[SIZE];
    for (unsigned int v = 0; v < SIZE; ++v) totals[v] = A(-0.0);
    if (columns.present > 0) {
        x += columns.first;
        Count k = begin + t / columns.across;
        for (; k + (UNROLL - 1) * down < end; k += UNROLL * down)
            add_to_columns<WIDE, false, AGAIN, UNROLL>(x, k, end, inner, down, columns, totals);
        constexpr unsigned int HALF = UNROLL > 1 ? UNROLL / 2 : 1;
        for (; k < end; k += HALF * down)
            add_to_columns<WIDE, true, AGAIN, HALF>(x, k, end, inner, down, columns, totals);
    }
    for (unsigned int v = 0; v < SIZE; ++v) sums[v][t] = totals[v];
    for (unsigned int half = BLOCK / 2; half >= columns.across; half /= 2) {
        __syncthreads();
        if (t < half)
            for (unsigned int v = 0; v < SIZE; ++v) sums[v][t] += sums[v][t + half];
    }
    __syncthreads();
}

// Sums down columns: `across` threads of a block side by side, each with 16 bytes of columns, the others below. A
// column's pieces are added by the last of their blocks, in their order.
template <typename T, typename A, typename R, unsigned int UNROLL>
__global__ void __launch_bounds__(BLOCK)
add_columns(const T *x, R *y, A *parts, unsigned int *tickets, Count n, Count inner, unsigned int across,
            unsigned int pieces, Count span)
{
    constexpr unsigned int SIZE = Pack<T>::SIZE;
    __shared__ A sums[SIZE][BLOCK];
    const unsigned int t = threadIdx.x, groups = (inner + across * SIZE - 1) / (across * SIZE);
    const unsigned int group = blockIdx.x % groups, piece = blockIdx.x / groups % pieces, o = blockIdx.x / groups / pieces;
    const Count column = static_cast<Count>(group) * across * SIZE, begin = piece * span, end = min(begin + span, n);
    const unsigned int width = min(static_cast<Count>(across * SIZE), inner - column);
    const bool wide = (reinterpret_cast<Count>(x) | inner * sizeof(T)) % 16 == 0;
    const T *from = x + static_cast<Count>(o) * n * inner + column;
    if (wide)
        sum_columns<true, false, UNROLL>(from, begin, end, inner, Columns<SIZE>(true, across, width), sums);
    else
        sum_columns<false, false, UNROLL>(from, begin, end, inner, Columns<SIZE>(false, across, width), sums);
    R *to = y + static_cast<Count>(o) * inner + column;
    A *own = parts + static_cast<Count>(o) * pieces * inner + column;
    for (unsigned int c = t; c < width; c += BLOCK) {
        const A total = wide ? sums[c % SIZE][c / SIZE] : sums[c / across][c % across];
        if (pieces == 1)
            to[c] = R(total);
        else
            own[piece * inner + c] = total;
    }
    if (pieces == 1 || !is_last(&tickets[o * groups + group], pieces)) return;
    if (pieces > FEW) sum_columns<false, true, 16 / SIZE>(own, 0, pieces, inner, Columns<SIZE>(false, across, width), sums);
    for (unsigned int c = t; c < width; c += BLOCK) {
        A total = pieces > FEW ? sums[c / across][c % across] : A(-0.0);
        if (pieces <= FEW)
#pragma unroll 8
            for (unsigned int i = 0; i < pieces; ++i) total += __ldcg(&own[i * inner + c]);
        to[c] = R(total);
    }
}
