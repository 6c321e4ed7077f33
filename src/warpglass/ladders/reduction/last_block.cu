// One launch whose last block adds the blocks' sums: see last_block.py.
#include <cuda_fp16.h>

typedef unsigned long long Word;
constexpr unsigned long long NEAR = 1 << 26;  // bytes of an array that is read with hints

template <typename T>
struct alignas(16) Pack {
    T values[16 / sizeof(T)];
};

// With HINTS the first-level cache does not keep what is loaded, and the second fetches 256 bytes at a time: faster
// while all that is read has room in the second.
template <bool HINTS, typename T>
__device__ __forceinline__ Pack<T> load(const Pack<T> *at) {
    if constexpr (!HINTS) return *at;
    uint4 bits;
    asm volatile("ld.global.L1::no_allocate.L2::256B.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(bits.x), "=r"(bits.y), "=r"(bits.z), "=r"(bits.w)
                 : "l"(at));
    Pack<T> pack;
    memcpy(&pack, &bits, sizeof(pack));
    return pack;
}

// The sum of N values as a tree: none goes through more than log2(N) additions.
template <typename A, unsigned int N, typename T>
__device__ __forceinline__ A tree(const T *values) {
    if constexpr (N == 1)
        return A(values[0]);
    else
        return tree<A, N / 2>(values) + tree<A, N / 2>(values + N / 2);
}

template <typename A>
__device__ A sum_of_warp(A total) {
    for (int distance = 16; distance > 0; distance >>= 1) total += __shfl_down_sync(0xFFFFFFFF, total, distance);
    return total;  // in lane 0
}

template <unsigned int BLOCK, typename A>
__device__ A sum_of_block(A total, A *sums) {
    total = sum_of_warp(total);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = total;
    __syncthreads();
    if (threadIdx.x < 32) total = sum_of_warp(threadIdx.x < BLOCK / 32 ? sums[threadIdx.x] : A(-0.0));
    return total;  // in thread 0
}

// A value travels in words of 64 bits: 32 of the value and a mark. No fence need stand between the two.
template <typename A>
__device__ void tell(Word *words, A value) {
    unsigned int bits[sizeof(A) / 4];
    memcpy(bits, &value, sizeof(A));
    for (unsigned int k = 0; k < sizeof(A) / 4; ++k) static_cast<volatile Word *>(words)[k] = 1ull << 32 | bits[k];
}

// Waits for a value, and forgets it.
template <typename A>
__device__ A wait_for(Word *words) {
    A value;
    unsigned int bits[sizeof(A) / 4];
    volatile Word *told = words;
    for (unsigned int k = 0; k < sizeof(A) / 4; ++k) {
        Word word;
        do word = told[k];
        while (word == 0);
        bits[k] = word;
        told[k] = 0;
    }
    memcpy(&value, bits, sizeof(A));
    return value;
}

// Adds a thread's packs of whole tiles, and leaves in `i` where the next would be.
template <bool HINTS, unsigned int BLOCK, unsigned int UNROLL, typename A, typename T>
__device__ __forceinline__ void add_tiles(const Pack<T> *packs, unsigned long long &i, unsigned long long count, A &total) {
    constexpr unsigned int WIDTH = 16 / sizeof(T), TILE = BLOCK * UNROLL;
    for (; i + (TILE - BLOCK) < count; i += static_cast<unsigned long long>(gridDim.x) * TILE) {
        Pack<T> loaded[UNROLL];
        A part[UNROLL];
        for (unsigned int k = 0; k < UNROLL; ++k) loaded[k] = load<HINTS>(&packs[i + k * BLOCK]);
        for (unsigned int k = 0; k < UNROLL; ++k) part[k] = tree<A, WIDTH>(loaded[k].values);
        total += tree<A, UNROLL>(part);
    }
}

// Adds T, in the type A, into one R. An addition of -0 changes nothing, not even another -0.
template <typename T, typename A, typename R, unsigned int BLOCK, unsigned int UNROLL>
__global__ void __launch_bounds__(BLOCK)
    last_block(const T *x, R *sum, Word *words, unsigned long long n) {
    constexpr unsigned int WIDTH = 16 / sizeof(T), TILE = BLOCK * UNROLL, WORDS = sizeof(A) / 4;
    __shared__ A sums[32];
    const unsigned int t = threadIdx.x;
    // Packs lie between the elements before the first multiple of 16 bytes and those behind the last.
    const unsigned long long unaligned = -reinterpret_cast<unsigned long long>(x) % 16 / sizeof(T);
    const unsigned long long before = min(n, unaligned);
    const unsigned long long count = (n - before) / WIDTH, behind = before + count * WIDTH;
    const Pack<T> *packs = reinterpret_cast<const Pack<T> *>(x + before);

    A total = A(-0.0);
    unsigned long long i = static_cast<unsigned long long>(blockIdx.x) * TILE + t;
    if (n <= NEAR / sizeof(T))
        add_tiles<true, BLOCK, UNROLL>(packs, i, count, total);
    else
        add_tiles<false, BLOCK, UNROLL>(packs, i, count, total);
    for (unsigned int k = 0; k < UNROLL; ++k, i += BLOCK)
        if (i < count) total += tree<A, WIDTH>(packs[i].values);
    if (blockIdx.x == 0 && t < before) total += A(x[t]);
    if (blockIdx.x == 0 && behind + t < n) total += A(x[behind + t]);
    total = sum_of_block<BLOCK>(total, sums);

    if (gridDim.x > 1) {
        if (blockIdx.x < gridDim.x - 1) {
            if (t == 0) tell(&words[blockIdx.x * WORDS], total);
            return;
        }
        if (t > 0) total = A(-0.0);  // the last block's own sum, then those of the others
        for (unsigned int b = t; b < gridDim.x - 1; b += BLOCK) total += wait_for<A>(&words[b * WORDS]);
        __syncthreads();
        total = sum_of_block<BLOCK>(total, sums);
    }
    if (t == 0) *sum = n > 0 ? R(total) : R(0);
}
