// Packs of two arrays in one launch, whose last block adds the blocks' sums: see last_block.py.
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
__device__ __forceinline__ Pack<T> load(const Pack<T> *at)
{
    if constexpr (!HINTS) return *at;
    uint4 bits;
    asm volatile("ld.global.L1::no_allocate.L2::256B.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(bits.x), "=r"(bits.y), "=r"(bits.z), "=r"(bits.w)
                 : "l"(at));
    Pack<T> pack;
    memcpy(&pack, &bits, sizeof(pack));
    return pack;
}

// The sum of N products as a tree: none goes through more than log2(N) additions.
template <typename A, unsigned int N, typename T>
__device__ __forceinline__ A tree(const T *x, const T *y)
{
    if constexpr (N == 1)
        return A(x[0]) * A(y[0]);
    else
        return tree<A, N / 2>(x, y) + tree<A, N / 2>(x + N / 2, y + N / 2);
}

template <typename A>
__device__ A sum_of_warp(A value)
{
    for (int distance = 16; distance > 0; distance /= 2)
        value += __shfl_down_sync(0xffffffff, value, distance);
    return value;
}

template <unsigned int BLOCK, typename A>
__device__ A sum_of_block(A value, A *sums)
{
    value = sum_of_warp(value);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x < 32) value = sum_of_warp(threadIdx.x < BLOCK / 32 ? sums[threadIdx.x] : A(-0.0));
    return value;
}

// A value travels in words of 64 bits: 32 of the value and a mark. No fence need stand between the two.
template <typename A>
__device__ void tell(Word *words, A value)
{
    unsigned int bits[sizeof(A) / 4];
    memcpy(bits, &value, sizeof(A));
    for (unsigned int k = 0; k < sizeof(A) / 4; ++k) static_cast<volatile Word *>(words)[k] = 1ull << 32 | bits[k];
}

// Waits for a value, and forgets it.
template <typename A>
__device__ A wait_for(Word *words)
{
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

// Adds the products of a thread's packs of whole tiles, and leaves in `i` where the next would be.
template <bool HINTS, unsigned int BLOCK, unsigned int UNROLL, typename A, typename T>
__device__ __forceinline__ void add_tiles(const Pack<T> *xs, const Pack<T> *ys, unsigned long long &i,
                                          unsigned long long count, A &total)
{
    constexpr unsigned int WIDTH = 16 / sizeof(T), TILE = BLOCK * UNROLL;
    for (; i + (TILE - BLOCK) < count; i += static_cast<unsigned long long>(gridDim.x) * TILE) {
        Pack<T> a[UNROLL], b[UNROLL];
        for (unsigned int k = 0; k < UNROLL; ++k)
            a[k] = load<HINTS>(&xs[i + k * BLOCK]), b[k] = load<HINTS>(&ys[i + k * BLOCK]);
        A part = tree<A, WIDTH>(a[0].values, b[0].values);
        for (unsigned int k = 1; k < UNROLL; ++k) part += tree<A, WIDTH>(a[k].values, b[k].values);
        total += part;
    }
}

// Multiplies and adds T in the type A, into one R. An addition of -0 changes nothing, not even another -0.
template <typename T, typename A, typename R, unsigned int BLOCK, unsigned int UNROLL>
__global__ void __launch_bounds__(BLOCK)
last_block(const T *x, const T *y, R *dot, Word *words, unsigned long long n)
{
    constexpr unsigned int WIDTH = 16 / sizeof(T), TILE = BLOCK * UNROLL, WORDS = sizeof(A) / 4;
    __shared__ A sums[32];
    const unsigned int t = threadIdx.x;
    // Packs begin at a multiple of 16 bytes, in both arrays or not at all.
    const unsigned long long at = reinterpret_cast<unsigned long long>(x);
    const bool together = (at - reinterpret_cast<unsigned long long>(y)) % 16 == 0;
    const unsigned long long before = together ? min(n, -at % 16 / sizeof(T)) : 0;
    const unsigned long long count = together ? (n - before) / WIDTH : 0;
    const Pack<T> *xs = reinterpret_cast<const Pack<T> *>(x + before);
    const Pack<T> *ys = reinterpret_cast<const Pack<T> *>(y + before);

    A total = A(-0.0);
    unsigned long long i = static_cast<unsigned long long>(blockIdx.x) * TILE + t;
    if (n <= NEAR / sizeof(T))
        add_tiles<true, BLOCK, UNROLL>(xs, ys, i, count, total);
    else
        add_tiles<false, BLOCK, UNROLL>(xs, ys, i, count, total);
    for (unsigned int k = 0; k < UNROLL; ++k, i += BLOCK)
        if (i < count) total += tree<A, WIDTH>(xs[i].values, ys[i].values);
    if (blockIdx.x == 0 && t < before) total += A(x[t]) * A(y[t]);
    // What fills no pack.
    const unsigned long long threads = static_cast<unsigned long long>(gridDim.x) * BLOCK;
    for (i = before + count * WIDTH + blockIdx.x * BLOCK + t; i < n; i += threads) total += A(x[i]) * A(y[i]);
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
    if (t == 0) *dot = n > 0 ? R(total) : R(0);
}
