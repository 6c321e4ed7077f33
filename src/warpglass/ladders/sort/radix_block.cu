// Radix sort by one block, all digits in shared memory: see radix_block.py.
#include "radix.cuh"

// Sorts `size` keys, at most THREADS * ITEMS, and values with them; no v: the indices of the keys.
template <typename T, typename Value, typename Final, unsigned int THREADS, unsigned int ITEMS>
__device__ __forceinline__ void sort_row(const BitsOf<T> *x, BitsOf<T> *y, const Value *v, Final *w,
                                         unsigned int size)
{
    using Part = Tile<THREADS, ITEMS>;
    using Bits = BitsOf<T>;
    extern __shared__ __align__(16) unsigned char raw[];
    Counts<Part::WARPS> counts = *reinterpret_cast<unsigned int (*)[Part::WARPS][BINS]>(raw);
    Value *sorted_values = reinterpret_cast<Value *>(raw + sizeof(counts));
    Bits *sorted = reinterpret_cast<Bits *>(sorted_values + (EXISTS<Value> ? Part::SIZE : 0));
    __shared__ unsigned int sums[BINS / 32];

    Bits keys[ITEMS], differing = 0;  // bits in which the thread's keys differ from the first of all
    Value values[ITEMS];
    const Bits any = size > 0 ? ordered<T>(x[0]) : Bits(0);
#pragma unroll
    for (unsigned int item = 0; item < ITEMS; ++item) {
        const unsigned int k = Part::index(item);
        keys[item] = k < size ? x[k] : last_key<T>();
        if (k < size) differing |= ordered<T>(keys[item]) ^ any;
        if constexpr (EXISTS<Value>) values[item] = v == nullptr ? Value(k) : k < size ? v[k] : Value(0);
    }
    for (unsigned int shift = 0; shift < 8 * sizeof(Bits); shift += DIGIT_BITS) {
        if (!__syncthreads_or(differing >> shift & (BINS - 1))) continue;  // they are in this order already
        start_bins(count_tile<T, THREADS>(keys, shift, counts), counts, sums);
#pragma unroll
        for (unsigned int item = 0; item < ITEMS; ++item) {
            const unsigned int place = next_place(digit_of<T>(keys[item], shift), counts[threadIdx.x / 32]);
            sorted[place] = keys[item];
            if constexpr (EXISTS<Value>) sorted_values[place] = values[item];
        }
        __syncthreads();
#pragma unroll
        for (unsigned int item = 0; item < ITEMS; ++item) {
            keys[item] = sorted[Part::index(item)];
            if constexpr (EXISTS<Value>) values[item] = sorted_values[Part::index(item)];
        }
    }
#pragma unroll
    for (unsigned int item = 0; item < ITEMS; ++item) {
        const unsigned int k = Part::index(item);
        if (k >= size) continue;
        if (y != nullptr) y[k] = keys[item];
        if constexpr (EXISTS<Value>) w[k] = Final(values[item]);
    }
}

template <typename T, unsigned int THREADS, unsigned int ITEMS>
__global__ void __launch_bounds__(THREADS) sort_keys(const T *x, T *y, unsigned int size)
{
    const u64 row = blockIdx.x * u64(size);
    sort_row<T, Nothing, Nothing, THREADS, ITEMS>(bits_of(x) + row, bits_of(y) + row, nullptr, nullptr, size);
}

template <typename T, typename V, unsigned int THREADS, unsigned int ITEMS>
__global__ void __launch_bounds__(THREADS) sort_pairs(const T *x, T *y, const V *v, V *w, unsigned int size)
{
    const u64 row = blockIdx.x * u64(size);
    sort_row<T, BitsOf<V>, BitsOf<V>, THREADS, ITEMS>(bits_of(x) + row, bits_of(y) + row, bits_of(v) + row,
                                                      bits_of(w) + row, size);
}

template <typename T, unsigned int THREADS, unsigned int ITEMS>
__global__ void __launch_bounds__(THREADS) sort_indices(const T *x, long long *w, unsigned int size)
{
    const u64 row = blockIdx.x * u64(size);
    sort_row<T, unsigned int, long long, THREADS, ITEMS>(bits_of(x) + row, nullptr, nullptr, w + row, size);
}
