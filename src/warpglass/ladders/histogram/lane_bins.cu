// Copies of the counters for the lanes, in one launch: see lane_bins.py.
// Sixteen bytes of keys, in words: a key is cut out of its word and moved to its counter's place at once.
template <typename T>
struct alignas(16) Pack {
    using Word = decltype(sizeof(T) < 8 ? 0u : 0ull);
    static constexpr unsigned int KEYS = 16 / sizeof(T), OF_WORD = sizeof(Word) / sizeof(T);
    Word words[16 / sizeof(Word)];

    __device__ __forceinline__ T operator[](unsigned int k) const
    {
        return static_cast<T>(words[k / OF_WORD] >> k % OF_WORD * (8 * sizeof(T)));
    }
};

// Counts a key; INSIDE says that every key is the number of a bin. Without copies memory counts.
template <unsigned int COPIES, bool INSIDE, typename T, typename C>
__device__ __forceinline__ void count(unsigned int *copies, unsigned int copy, C *totals, T key, unsigned int bins)
{
    const unsigned long long bin = static_cast<long long>(key);  // a negative key becomes a large one
    if (!INSIDE && bin >= bins) return;
    if constexpr (COPIES > 0)
        atomicAdd(&copies[static_cast<unsigned int>(bin) * COPIES | copy], 1);
    else
        atomicAdd(&totals[bin], C(1));
}

template <typename T, typename C, unsigned int BLOCK, unsigned int UNROLL, unsigned int COPIES, bool INSIDE>
__global__ void __launch_bounds__(BLOCK, 2048 / BLOCK)
lane_bins(const T *x, C *counts, C *totals, unsigned int *ticket, unsigned long long n, unsigned int bins)
{
    extern __shared__ unsigned int copies[];  // of bin b for lane l: copies[b * COPIES | l % COPIES]
    __shared__ bool last;
    constexpr unsigned int WIDTH = Pack<T>::KEYS, TILE = BLOCK * UNROLL;
    const unsigned int t = threadIdx.x;
    for (unsigned int c = t; c < bins * COPIES; c += BLOCK) copies[c] = 0;
    __syncthreads();

    const unsigned int copy = t & (COPIES - 1);
    // Packs lie between the keys before the first multiple of 16 bytes and those behind the last.
    const unsigned long long unaligned = -reinterpret_cast<unsigned long long>(x) % 16 / sizeof(T);
    const unsigned long long before = min(n, unaligned), end = (n - before) / WIDTH;
    const unsigned long long behind = before + end * WIDTH;
    const Pack<T> *packs = reinterpret_cast<const Pack<T> *>(x + before);
    unsigned long long i = static_cast<unsigned long long>(blockIdx.x) * TILE + t;
    for (; i + (TILE - BLOCK) < end; i += static_cast<unsigned long long>(gridDim.x) * TILE) {
        Pack<T> loaded[UNROLL];
        for (unsigned int k = 0; k < UNROLL; ++k) loaded[k] = packs[i + k * BLOCK];
        for (unsigned int k = 0; k < UNROLL; ++k)
            for (unsigned int j = 0; j < WIDTH; ++j)
                count<COPIES, INSIDE>(copies, copy, totals, loaded[k][j], bins);
    }
    for (unsigned int k = 0; k < UNROLL; ++k, i += BLOCK)
        if (i < end)
            for (unsigned int j = 0; j < WIDTH; ++j)
                count<COPIES, INSIDE>(copies, copy, totals, packs[i][j], bins);
    if (blockIdx.x == 0 && t < before) count<COPIES, INSIDE>(copies, copy, totals, x[t], bins);
    if (blockIdx.x == 0 && behind + t < n) count<COPIES, INSIDE>(copies, copy, totals, x[behind + t], bins);
    __syncthreads();

    if constexpr (COPIES > 0)
        for (unsigned int b = t; b < bins; b += BLOCK) {
            unsigned int sum = 0;
#pragma unroll 4
            for (unsigned int k = 0; k < COPIES; ++k) sum += copies[b * COPIES | (t + k) % COPIES];
            if (sum) atomicAdd(&totals[b], C(sum));
        }
    __threadfence();
    __syncthreads();
    if (t == 0) last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;  // the last makes it 0 again
    __syncthreads();
    if (last)
        for (unsigned int b = t; b < bins; b += BLOCK) counts[b] = atomicExch(&totals[b], C(0));
}
