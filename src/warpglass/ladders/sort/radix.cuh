// Digits of keys, and the place of every key of a tile by one digit: what the radix sorts share (see onesweep.py).

typedef unsigned long long u64;

constexpr unsigned int ALL_LANES = 0xffffffffu, DIGIT_BITS = 8, BINS = 1 << DIGIT_BITS;
enum Kind { UNSIGNED, SIGNED, FLOATING };

// The bits of a key as an unsigned number in NumPy's order: zeros of both signs are equal, and so is every NaN,
// which comes last. Exponents are as wide as in IEEE 754.
template <typename Bits, Kind KIND>
__device__ __forceinline__ Bits ordered(Bits bits)
{
    constexpr Bits SIGN = Bits(Bits(1) << (8 * sizeof(Bits) - 1)), REST = Bits(SIGN - 1);
    constexpr unsigned int EXPONENT = sizeof(Bits) == 8 ? 11 : sizeof(Bits) == 4 ? 8 : 5;
    constexpr Bits INFINITE = Bits(REST & ~(REST >> EXPONENT));
    if (KIND == UNSIGNED) return bits;
    if (KIND == SIGNED) return bits ^ SIGN;
    const Bits magnitude = bits & REST;
    if (magnitude > INFINITE) return Bits(~Bits(0));
    if (magnitude == 0) return SIGN;
    return bits & SIGN ? Bits(~bits) : Bits(bits | SIGN);
}

// Bits of which no key comes after those of another.
template <typename Bits, Kind KIND>
__device__ __forceinline__ Bits last_key()
{
    return KIND == SIGNED ? Bits(Bits(~Bits(0)) >> 1) : Bits(~Bits(0));
}

template <typename Bits, Kind KIND>
__device__ __forceinline__ unsigned int digit_of(Bits bits, unsigned int shift)
{
    return ordered<Bits, KIND>(bits) >> shift & (BINS - 1);
}

// Which lanes of the warp have the same digit as this one.
template <int HOW>
__device__ __forceinline__ unsigned int equal_lanes(unsigned int digit)
{
    if (HOW == 1) return __match_any_sync(ALL_LANES, digit);
    unsigned int equal = ALL_LANES;
#pragma unroll
    for (unsigned int bit = 1; bit < BINS; bit *= 2) {
        unsigned int alike;  // __ballot_sync, of which the compiler would compute the predicate twice
        asm volatile("{\n\t"
                     ".reg .pred set;\n\t"
                     ".reg .b32 own;\n\t"
                     "and.b32 own, %1, %2;\n\t"
                     "setp.ne.u32 set, own, 0;\n\t"
                     "vote.sync.ballot.b32 %0, set, 0xffffffff;\n\t"
                     "@!set not.b32 %0, %0;\n\t"
                     "}"
                     : "=r"(alike)
                     : "r"(digit), "r"(bit));
        equal &= alike;
    }
    return equal;
}

// The sum of the values of all threads before this one, of the first BINS of a block. All threads call it.
template <typename Number>
__device__ Number sum_before(Number value, Number (&sums)[BINS / 32])
{
    const unsigned int t = threadIdx.x, lane = t % 32, warp = t / 32;
    Number sum = value;
    for (unsigned int stride = 1; stride < 32; stride *= 2) {
        const Number before = __shfl_up_sync(ALL_LANES, sum, stride);
        if (lane >= stride) sum += before;
    }
    if (t < BINS && lane == 31) sums[warp] = sum;
    __syncthreads();
    for (unsigned int k = 0; k < BINS / 32; ++k)
        if (k < warp) sum += sums[k];
    return sum - value;
}

// A tile of THREADS * ITEMS keys. Lane l of a warp has the keys l, l + 32, l + 64, ... of the warp's part.
template <unsigned int THREADS, unsigned int ITEMS>
struct Tile {
    static_assert(THREADS % 32 == 0 && THREADS >= BINS, "a thread for every bin");
    static constexpr unsigned int SIZE = THREADS * ITEMS, WARPS = THREADS / 32;

    // Where in the tile the thread's key number `item` was before.
    static __device__ __forceinline__ unsigned int index(unsigned int item)
    {
        return threadIdx.x / 32 * 32 * ITEMS + item * 32 + threadIdx.x % 32;
    }
};

// By bin: first how many keys of each warp have the digit, then the place of the warp's next such key.
template <unsigned int WARPS>
using Counts = unsigned int (&)[WARPS][BINS];

// Counts the digits; the result is the tile's number of keys in bin number threadIdx.x, for the first BINS threads.
template <typename Bits, Kind KIND, unsigned int THREADS, unsigned int ITEMS>
__device__ __forceinline__ unsigned int count_digits(const Bits (&keys)[ITEMS], unsigned int shift,
                                                     Counts<THREADS / 32> counts)
{
    const unsigned int t = threadIdx.x, lane = t % 32, warp = t / 32;
    for (unsigned int bin = lane; bin < BINS; bin += 32) counts[warp][bin] = 0;
    __syncwarp();
#pragma unroll
    for (unsigned int item = 0; item < ITEMS; ++item)
        atomicAdd(&counts[warp][digit_of<Bits, KIND>(keys[item], shift)], 1);
    __syncthreads();
    unsigned int total = 0;
    if (t < BINS)
        for (unsigned int w = 0; w < THREADS / 32; ++w) total += counts[w][t];
    return total;
}

// Turns counts into places; the result is the place of the first key in bin number threadIdx.x.
template <unsigned int WARPS>
__device__ __forceinline__ unsigned int start_bins(unsigned int total, Counts<WARPS> counts,
                                                   unsigned int (&sums)[BINS / 32])
{
    const unsigned int t = threadIdx.x, start = sum_before(total, sums);
    unsigned int place = start;
    if (t < BINS)
        for (unsigned int w = 0; w < WARPS; ++w) {
            const unsigned int count = counts[w][t];
            counts[w][t] = place;
            place += count;
        }
    __syncthreads();
    return start;
}

// The place of a key in the sorted tile. Warps call it for one item after the other.
template <int HOW>
__device__ __forceinline__ unsigned int next_place(unsigned int digit, unsigned int *places)
{
    const unsigned int lane = threadIdx.x % 32, equal = equal_lanes<HOW>(digit);
    const unsigned int before = __popc(equal & ((1u << lane) - 1)), last = 31 - __clz(equal);
    unsigned int place = 0;
    if (HOW == 2) {
        place = places[digit];
        __syncwarp();
        if (lane == last) places[digit] = place + before + 1;
        __syncwarp();
        return place + before;
    }
    if (lane == last) place = atomicAdd(&places[digit], before + 1);
    __syncwarp();
    return __shfl_sync(ALL_LANES, place, last) + before;
}
