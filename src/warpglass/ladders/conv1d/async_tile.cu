// Tiles that are fetched while the ones before are computed: see async_tile.py.
template <typename T>
struct alignas(16) Chunk {
    static constexpr int COUNT = 16 / sizeof(T);
    T value[COUNT];
};

constexpr int CHUNKS = 3;  // of a thread, side by side: an odd number of 16 bytes meets no bank twice
constexpr int STAGES = 2;  // tiles in shared memory: one is computed, the other is under way

// Starts to copy elements [at, at + COUNT) of an array of n to shared memory; those outside become 0.
template <typename T>
__device__ __forceinline__ void fetch_chunk(Chunk<T> *to, const T *x, long long at, long long n)
{
    constexpr int COUNT = Chunk<T>::COUNT;
    if (at < 0 && at + COUNT > 0) {  // x begins within the chunk: its address is no multiple of 16
        for (int k = 0; k < COUNT; ++k) to->value[k] = at + k >= 0 && at + k < n ? x[at + k] : T(0);
        return;
    }
    const int bytes = at < 0 || at >= n ? 0 : min(n - at, static_cast<long long>(COUNT)) * sizeof(T);
    const unsigned int shared = __cvta_generic_to_shared(to);
    const T *from = bytes ? x + at : x - reinterpret_cast<size_t>(x) % 16 / sizeof(T);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(from), "r"(bytes) : "memory");
}

// The results of a thread: CHUNKS chunks, from those of the tile and HALO more on each side.
template <typename T, int WIDTH, int HALO>
__device__ __forceinline__ void convolve(const Chunk<T> *window, const T (&weights)[WIDTH],
                                         Chunk<T> (&total)[CHUNKS])
{
    constexpr int COUNT = Chunk<T>::COUNT;
#pragma unroll
    for (int c = 0; c < CHUNKS + 2 * HALO; ++c) {
        const Chunk<T> chunk = window[c];
#pragma unroll
        for (int i = 0; i < COUNT; ++i)
#pragma unroll
            for (int k = 0; k < CHUNKS * COUNT; ++k) {
                const int j = (c - HALO) * COUNT + i - k + WIDTH / 2;
                if (j >= 0 && j < WIDTH) total[k / COUNT].value[k % COUNT] += chunk.value[i] * weights[j];
            }
    }
}

// Stores the results of a warp, from y[at] on: chunks where these are aligned and in the array, else elements.
template <typename T>
__device__ __forceinline__ void store(T *y, const Chunk<T> *results, long long at, long long n, bool aligned)
{
    constexpr int COUNT = Chunk<T>::COUNT, ALL = 32 * CHUNKS * COUNT;
    const int lane = threadIdx.x % 32;
    if (aligned && at >= 0 && at + ALL <= n)
#pragma unroll
        for (int c = lane; c < 32 * CHUNKS; c += 32) reinterpret_cast<Chunk<T> *>(y + at)[c] = results[c];
    else
        for (int k = lane; k < ALL; k += 32)
            if (at + k >= 0 && at + k < n) y[at + k] = results[k / COUNT].value[k % COUNT];
}

template <typename T, int WIDTH, int THREADS>
__global__ __launch_bounds__(THREADS) void async_tile(const T *__restrict__ x, const T *__restrict__ mask,
                                                      T *__restrict__ y, long long n, int tiles)
{
    constexpr int COUNT = Chunk<T>::COUNT, HALO = (WIDTH / 2 + COUNT - 1) / COUNT;
    constexpr int TILE = THREADS * CHUNKS, HELD = TILE + 2 * HALO;  // in chunks
    extern __shared__ __align__(16) unsigned char raw[];
    Chunk<T> *held = reinterpret_cast<Chunk<T> *>(raw), *results = held + STAGES * HELD;
    T weights[WIDTH];
#pragma unroll
    for (int j = 0; j < WIDTH; ++j) weights[j] = mask[j];
    const size_t address = reinterpret_cast<size_t>(x) / sizeof(T);
    const long long lead = address % COUNT;  // chunks begin where x has 16-byte boundaries
    const bool together = (address - reinterpret_cast<size_t>(y) / sizeof(T)) % COUNT == 0;
    const long long before = static_cast<long long>(blockIdx.x) * tiles;
    const auto first_of = [&](int tile) { return (before + tile) * TILE * COUNT - lead; };
    const auto fetch = [&](int tile) {
        if (tile < tiles)
            for (int c = threadIdx.x; c < HELD; c += THREADS)
                fetch_chunk(held + tile % STAGES * HELD + c, x, first_of(tile) + (c - HALO) * COUNT, n);
        asm volatile("cp.async.commit_group;" ::: "memory");
    };

    for (int tile = 0; tile < STAGES - 1; ++tile) fetch(tile);
    for (int tile = 0; tile < tiles && first_of(tile) < n; ++tile) {
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
        __syncthreads();  // the tile is there, and nobody needs the one before any more
        fetch(tile + STAGES - 1);
        Chunk<T> total[CHUNKS] = {};
        convolve<T, WIDTH, HALO>(held + tile % STAGES * HELD + threadIdx.x * CHUNKS, weights, total);
        // A thread's chunks lie side by side, but stores are in order if the lanes' do: the warp exchanges them.
        const int lane = threadIdx.x % 32;
        Chunk<T> *own = results + (threadIdx.x - lane) * CHUNKS;
        __syncwarp();
#pragma unroll
        for (int c = 0; c < CHUNKS; ++c) own[lane * CHUNKS + c] = total[c];
        __syncwarp();
        store(y, own, first_of(tile) + (threadIdx.x - lane) * CHUNKS * COUNT, n, together);
    }
}
