// Sixteen bytes of results a thread, from a window in registers: see register_window.py.
template <typename T>
struct alignas(16) Chunk {
    static constexpr int COUNT = 16 / sizeof(T);
    T value[COUNT];
};

constexpr int CHUNKS = 2;  // of a thread, a block's worth apart

// Elements [at, at + COUNT) of an array of n; those outside count as 0.
template <typename T>
__device__ __forceinline__ Chunk<T> load_chunk(const T *x, long long at, long long n)
{
    if (at >= 0 && at + Chunk<T>::COUNT <= n) return *reinterpret_cast<const Chunk<T> *>(x + at);
    Chunk<T> chunk;
#pragma unroll
    for (int k = 0; k < Chunk<T>::COUNT; ++k) chunk.value[k] = at + k >= 0 && at + k < n ? x[at + k] : T(0);
    return chunk;
}

// One chunk of y. WHOLE: all that it needs lies in the array. `together`: x and y are aligned alike.
template <typename T, int WIDTH, bool WHOLE>
__device__ __forceinline__ void convolve(const T *__restrict__ x, const T (&weights)[WIDTH], T *__restrict__ y,
                                         long long at, long long n, bool together)
{
    constexpr int RADIUS = WIDTH / 2, COUNT = Chunk<T>::COUNT, HALO = (RADIUS + COUNT - 1) / COUNT;
    Chunk<T> window[2 * HALO + 1], total{};
#pragma unroll
    for (int c = 0; c < 2 * HALO + 1; ++c) {
        const long long from = at + (c - HALO) * COUNT;
        window[c] = WHOLE ? *reinterpret_cast<const Chunk<T> *>(x + from) : load_chunk(x, from, n);
    }
#pragma unroll
    for (int j = 0; j < WIDTH; ++j)
#pragma unroll
        for (int k = 0; k < COUNT; ++k) {
            const int i = HALO * COUNT - RADIUS + j + k;
            total.value[k] += window[i / COUNT].value[i % COUNT] * weights[j];
        }
    if (WHOLE && together)
        *reinterpret_cast<Chunk<T> *>(y + at) = total;
    else
#pragma unroll
        for (int k = 0; k < COUNT; ++k)
            if (at + k >= 0 && at + k < n) y[at + k] = total.value[k];
}

template <typename T, int WIDTH>
__global__ void register_window(const T *__restrict__ x, const T *__restrict__ mask, T *__restrict__ y, long long n)
{
    constexpr int COUNT = Chunk<T>::COUNT, REACH = WIDTH / 2 + COUNT - 1;
    T weights[WIDTH];
#pragma unroll
    for (int j = 0; j < WIDTH; ++j) weights[j] = mask[j];
    const size_t address = reinterpret_cast<size_t>(x) / sizeof(T);
    const long long lead = address % COUNT;  // chunks begin where x has 16-byte boundaries
    const bool together = (address - reinterpret_cast<size_t>(y) / sizeof(T)) % COUNT == 0;
    const int span = blockDim.x * COUNT;
#pragma unroll 1
    for (int chunk = 0; chunk < CHUNKS; ++chunk) {
        const long long first = (static_cast<long long>(blockIdx.x) * CHUNKS + chunk) * span - lead;
        const long long at = first + threadIdx.x * COUNT;
        if (first >= REACH && first + span + REACH <= n)
            convolve<T, WIDTH, true>(x, weights, y, at, n, together);
        else if (at < n)
            convolve<T, WIDTH, false>(x, weights, y, at, n, together);
    }
}
