// Digits of keys, and the place of every key of a tile by one digit: see radix.py.

typedef unsigned long long u64;

constexpr unsigned int ALL_LANES = 0xffffffffu, DIGIT_BITS = 8, BINS = 1 << DIGIT_BITS;
enum Kind { UNSIGNED, SIGNED, FLOATING };

// What is moved in place of numbers: unsigned integers of as many bytes.
template <unsigned int BYTES> struct Unsigned;
template <> struct Unsigned<1> { using Type = unsigned char; };
template <> struct Unsigned<2> { using Type = unsigned short; };
template <> struct Unsigned<4> { using Type = unsigned int; };
template <> struct Unsigned<8> { using Type = u64; };

template <typename T>
struct Number {
    using Bits = typename Unsigned<sizeof(T)>::Type;
    static constexpr Kind KIND = !(T(-1) < T(0)) ? UNSIGNED : T(0.5) != T(0) ? FLOATING : SIGNED;
};

struct __half;
template <> struct Number<__half> {
    using Bits = unsigned short;
    static constexpr Kind KIND = FLOATING;
};

template <typename T> struct Number<const T> {
    using Bits = const typename Number<T>::Bits;
};

template <typename T>
using BitsOf = typename Number<T>::Bits;

template <typename T>
__device__ __forceinline__ BitsOf<T> *bits_of(T *x) { return reinterpret_cast<BitsOf<T> *>(x); }

// The bits of a key as an unsigned number in NumPy's order: zeros of both signs are equal, and so is every
// NaN, which comes last and is the largest number. Other floating-point numbers count from minus infinity on;
// below that a NaN with a sign wraps to where the others are.
template <typename T>
__device__ __forceinline__ BitsOf<T> ordered(BitsOf<T> bits)
{
    using Bits = BitsOf<T>;
    constexpr unsigned int WIDTH = 8 * sizeof(Bits), FRACTION = WIDTH == 64 ? 52 : WIDTH == 32 ? 23 : 10;
    constexpr Bits SIGN = Bits(Bits(1) << (WIDTH - 1)), INFINITE = Bits(SIGN - (Bits(1) << FRACTION));
    if (Number<T>::KIND == UNSIGNED) return bits;
    if (Number<T>::KIND == SIGNED) return bits ^ SIGN;
    const Bits negative = bits & SIGN ? Bits(~Bits(0)) : Bits(0);
    const Bits distance = Bits((bits ^ (negative | SIGN)) - negative - (SIGN - INFINITE));
    return Bits(min(distance, Bits(2 * INFINITE + 1)) - Bits(2 * INFINITE + 2));
}

// The values of keys that are sorted alone.
struct Nothing {};
template <typename T> constexpr bool EXISTS = true;
template <> constexpr bool EXISTS<Nothing> = false;

// Bits of which no digit is smaller than a key's.
template <typename T>
__device__ __forceinline__ BitsOf<T> last_key()
{
    return Number<T>::KIND == SIGNED ? BitsOf<T>(BitsOf<T>(~BitsOf<T>(0)) >> 1) : BitsOf<T>(~BitsOf<T>(0));
}

template <typename T>
__device__ __forceinline__ unsigned int digit_of(BitsOf<T> bits, unsigned int shift)
{
    return ordered<T>(bits) >> shift & (BINS - 1);
}

// Which lanes of the warp have the same digit as this one.
__device__ __forceinline__ unsigned int equal_lanes(unsigned int digit)
{
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
template <typename Count>
__device__ Count sum_before(Count value, Count (&sums)[BINS / 32])
{
    const unsigned int t = threadIdx.x, lane = t % 32, warp = t / 32;
    Count sum = value;
    for (unsigned int stride = 1; stride < 32; stride *= 2) {
        const Count before = __shfl_up_sync(ALL_LANES, sum, stride);
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

// Counts the digits; the result is the tile's number of keys in bin threadIdx.x, for the first BINS threads.
template <typename T, unsigned int THREADS, unsigned int ITEMS>
__device__ __forceinline__ unsigned int count_tile(const BitsOf<T> (&keys)[ITEMS], unsigned int shift,
                                                   Counts<THREADS / 32> counts)
{
    const unsigned int t = threadIdx.x, lane = t % 32, warp = t / 32;
    for (unsigned int bin = lane; bin < BINS; bin += 32) counts[warp][bin] = 0;
    __syncwarp();
#pragma unroll
    for (unsigned int item = 0; item < ITEMS; ++item)
        atomicAdd(&counts[warp][digit_of<T>(keys[item], shift)], 1);
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
__device__ __forceinline__ unsigned int next_place(unsigned int digit, unsigned int *places)
{
    const unsigned int lane = threadIdx.x % 32, equal = equal_lanes(digit);
    const unsigned int before = __popc(equal & ((1u << lane) - 1)), place = places[digit] + before;
    __syncwarp();
    if (lane == 31 - __clz(equal)) places[digit] = place + 1;
    __syncwarp();
    return place;
}
