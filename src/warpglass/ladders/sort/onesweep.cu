// Radix sort with a single sweep over the keys for each digit: see onesweep.py.
#include "radix.cuh"

// What a tile has made known of a bin, in the highest two bits of a number: nothing, its own keys, all keys up to it.
enum Known { NOTHING, OWN, ALL };

template <typename Number>
struct State {
    static constexpr unsigned int SHIFT = 8 * sizeof(Number) - 2;
    static constexpr Number MASK = (Number(1) << SHIFT) - 1;
};

template <typename Number>
__device__ __forceinline__ void make_known(Number *state, Known what, Number count)
{
    *(volatile Number *)state = Number(what) << State<Number>::SHIFT | count;
}

// Counts every digit of every key in one reading. The last block to finish turns counts into the first place of
// every bin, and decides which passes there will be and from which array to which.
//   counts  [PASSES][BINS], zeros        route  [PASSES + 1]: for each pass its number or SKIPPED; how many
//   ticket  a zero                       states of the first pass are cleared
constexpr unsigned int SKIPPED = ~0u;

template <typename Bits, Kind KIND, typename Number, unsigned int PASSES>
__global__ void count_all_digits(const Bits *x, Number *counts, unsigned int *route, unsigned int *ticket,
                                 Number *states, u64 state_count, u64 n, unsigned int in_place)
{
    __shared__ unsigned int own[PASSES][BINS];
    __shared__ Number sums[BINS / 32];
    __shared__ unsigned int finished;
    const unsigned int t = threadIdx.x;
    const u64 first = blockIdx.x * u64(blockDim.x) + t, stride = gridDim.x * u64(blockDim.x);

    for (unsigned int k = t; k < PASSES * BINS; k += blockDim.x) own[k / BINS][k % BINS] = 0;
    __syncthreads();
    auto count = [&](Bits bits) {
        const Bits key = ordered<Bits, KIND>(bits);
#pragma unroll
        for (unsigned int pass = 0; pass < PASSES; ++pass)
            atomicAdd(&own[pass][pass * DIGIT_BITS < 8 * sizeof(Bits) ? key >> pass * DIGIT_BITS & (BINS - 1) : 0], 1);
    };

    // Sixteen bytes at a time, from the first address that is a multiple of it.
    constexpr unsigned int WIDE = 16 / sizeof(Bits);
    const u64 head = min(n, u64((16 - reinterpret_cast<u64>(x) % 16) % 16 / sizeof(Bits)));
    const u64 body = (n - head) / WIDE, tail = head + body * WIDE;
    if (first < head) count(x[first]);
    for (u64 k = first; k < body; k += stride) {
        const uint4 words = reinterpret_cast<const uint4 *>(x + head)[k];
        Bits keys[WIDE];
        memcpy(keys, &words, 16);
#pragma unroll
        for (unsigned int j = 0; j < WIDE; ++j) count(keys[j]);
    }
    if (tail + first < n) count(x[tail + first]);
    for (u64 k = first; k < state_count; k += stride) states[k] = 0;

    __syncthreads();
    for (unsigned int k = t; k < PASSES * BINS; k += blockDim.x)
        if (own[k / BINS][k % BINS]) atomicAdd(&counts[k], Number(own[k / BINS][k % BINS]));
    __threadfence();
    __syncthreads();
    if (t == 0) finished = atomicAdd(ticket, 1);
    __syncthreads();
    if (finished != gridDim.x - 1) return;
    __threadfence();

    unsigned int useful = 0;  // a bit for every pass that moves a key
    for (unsigned int pass = 0; pass < PASSES; ++pass) {
        Number *bin = &counts[pass * BINS + t];
        const Number own = t < BINS ? *(volatile Number *)bin : 0;
        const Number start = sum_before(own, sums);
        if (t < BINS) *bin = start;
        if (!__syncthreads_or(t < BINS && own == n)) useful |= 1u << pass;
    }
    // An even number of passes brings the keys back to where they were; one at least takes them elsewhere.
    if (t == 0) {
        const bool one_more = in_place ? __popc(useful) % 2 : useful == 0;
        if (one_more) useful |= ~useful & (useful + 1);
        for (unsigned int pass = 0; pass < PASSES; ++pass)
            route[pass] = useful >> pass & 1 ? __popc(useful & ((1u << pass) - 1)) : SKIPPED;
        route[PASSES] = __popc(useful);
    }
}

// The keys in a bin in all tiles before this one.
template <typename Number>
__device__ Number look_back(const Number *states, unsigned int tile, unsigned int bin)
{
    constexpr unsigned int WINDOW = 4;
    Number sum = 0;
    unsigned int next = tile;  // tiles from here on are in `sum`
    while (true) {
        Number seen[WINDOW];
#pragma unroll
        for (unsigned int k = 0; k < WINDOW; ++k)
            seen[k] = k < next ? *(volatile const Number *)&states[(next - 1 - k) * u64(BINS) + bin]
                               : Number(ALL) << State<Number>::SHIFT;
#pragma unroll
        for (unsigned int k = 0; k < WINDOW; ++k) {
            const Number what = seen[k] >> State<Number>::SHIFT;
            if (what == NOTHING) break;
            sum += seen[k] & State<Number>::MASK;
            if (what == ALL) return sum;
            --next;
        }
    }
}

// One digit: keys, and values with them, go from one array to another, stable. A block sorts a tile in shared
// memory by the digit and stores it to where its bins begin.
//   x -> y or spare -> ... -> y; x may be y if the number of passes is even (count_all_digits sees to it)
//   v    values, nullptr: the indices of the keys; w, value_spare: as y and spare; Final: their type at last
//   starts  [passes][BINS]     states  [2][tiles][BINS], zeros for the first pass     tickets  [passes], zeros
struct Nothing {};
template <typename T> constexpr bool HAS_VALUES = true;
template <> constexpr bool HAS_VALUES<Nothing> = false;

template <typename Bits, Kind KIND, typename Value, typename Final, typename Number, unsigned int THREADS,
          unsigned int ITEMS, int HOW>
__device__ __forceinline__ void sweep(const Bits *x, Bits *y, Bits *spare, const Value *v, Final *w,
                                      Value *value_spare, const Number *starts, const unsigned int *route,
                                      Number *states, unsigned int *tickets, u64 n, unsigned int passes,
                                      unsigned int pass)
{
    using Part = Tile<THREADS, ITEMS>;
    constexpr bool VALUES = HAS_VALUES<Final>;
    extern __shared__ __align__(16) unsigned char raw[];
    Counts<Part::WARPS> counts = *reinterpret_cast<unsigned int (*)[Part::WARPS][BINS]>(raw);
    Bits *sorted = reinterpret_cast<Bits *>(raw + sizeof(counts));
    __shared__ Number targets[BINS];  // where in the result the tile's place 0 would be, seen from the bin
    __shared__ unsigned int sums[BINS / 32], my_tile;

    const unsigned int t = threadIdx.x, number = route[pass], shift = pass * DIGIT_BITS;
    if (number == SKIPPED) return;
    // Tiles go to blocks in the order in which they start, so every tile before this one has a block that runs.
    if (t == 0) my_tile = atomicAdd(&tickets[pass], 1);
    __syncthreads();
    const unsigned int tile = my_tile, left = route[passes] - number;
    const u64 row = tile * u64(BINS), first = tile * u64(Part::SIZE);
    const unsigned int size = unsigned(min(u64(Part::SIZE), n - first));
    const bool to_y = left % 2 == 1;
    const Bits *from = (number == 0 ? x : to_y ? spare : y) + first;
    Number *own = states + (number % 2 ? gridDim.x * u64(BINS) : 0), *other = states + (number % 2 ? 0 : gridDim.x * u64(BINS));

    Bits keys[ITEMS];
#pragma unroll
    for (unsigned int item = 0; item < ITEMS; ++item) {
        const unsigned int k = Part::index(item);
        keys[item] = k < size ? from[k] : last_key<Bits, KIND>();
    }
    const unsigned int total = count_digits<Bits, KIND, THREADS, ITEMS>(keys, shift, counts);
    if (t < BINS) {
        make_known(&own[row + t], tile == 0 ? ALL : OWN, Number(total));
        other[row + t] = 0;  // for the next pass
    }
    const unsigned int start = start_bins(total, counts, sums);

    unsigned int places[VALUES ? ITEMS : 1];
#pragma unroll
    for (unsigned int item = 0; item < ITEMS; ++item) {
        const unsigned int place =
            next_place<HOW>(digit_of<Bits, KIND>(keys[item], shift), counts[t / 32]);
        sorted[place] = keys[item];
        if (VALUES) places[item] = place;
    }
    if (t < BINS) {
        const Number before = look_back(own, tile, t);
        if (tile > 0) make_known(&own[row + t], ALL, before + total);
        targets[t] = starts[pass * BINS + t] + before - start;
    }
    __syncthreads();

    Bits *to = to_y ? y : spare;
    Number target[VALUES ? ITEMS : 1];
#pragma unroll
    for (unsigned int item = 0; item < ITEMS; ++item) {
        const unsigned int k = item * THREADS + t;
        if (k < size) {
            const Bits key = sorted[k];
            const Number there = targets[digit_of<Bits, KIND>(key, shift)] + k;
            to[there] = key;
            if (VALUES) target[item] = there;
        }
    }
    if constexpr (VALUES) {
        const Value *values = (number == 0 ? v : to_y ? value_spare : reinterpret_cast<const Value *>(w)) + first;
        Value *moved = reinterpret_cast<Value *>(sorted);
        Value own_values[ITEMS];
#pragma unroll
        for (unsigned int item = 0; item < ITEMS; ++item) {
            const unsigned int k = Part::index(item);
            if (v == nullptr && number == 0)
                own_values[item] = Value(first + k);
            else if (k < size)
                own_values[item] = values[k];
        }
        __syncthreads();
#pragma unroll
        for (unsigned int item = 0; item < ITEMS; ++item) moved[places[item]] = own_values[item];
        __syncthreads();
#pragma unroll
        for (unsigned int item = 0; item < ITEMS; ++item) {
            const unsigned int k = item * THREADS + t;
            if (k >= size) continue;
            if (left == 1)
                w[target[item]] = Final(moved[k]);
            else
                (to_y ? reinterpret_cast<Value *>(w) : value_spare)[target[item]] = moved[k];
        }
    }
}

template <typename Bits, Kind KIND, typename Number, unsigned int THREADS, unsigned int ITEMS, int HOW = 0>
__global__ void __launch_bounds__(THREADS)
sweep_keys(const Bits *x, Bits *y, Bits *spare, const Number *starts, const unsigned int *route, Number *states,
           unsigned int *tickets, u64 n, unsigned int passes, unsigned int pass)
{
    sweep<Bits, KIND, Nothing, Nothing, Number, THREADS, ITEMS, HOW>(x, y, spare, nullptr, nullptr, nullptr, starts,
                                                                route, states, tickets, n, passes, pass);
}

template <typename Bits, Kind KIND, typename Value, typename Number, unsigned int THREADS, unsigned int ITEMS, int HOW = 0>
__global__ void __launch_bounds__(THREADS)
sweep_pairs(const Bits *x, Bits *y, Bits *spare, const Value *v, Value *w, Value *value_spare,
            const Number *starts, const unsigned int *route, Number *states, unsigned int *tickets, u64 n,
            unsigned int passes, unsigned int pass)
{
    sweep<Bits, KIND, Value, Value, Number, THREADS, ITEMS, HOW>(x, y, spare, v, w, value_spare, starts, route,
                                                            states, tickets, n, passes, pass);
}

template <typename Bits, Kind KIND, typename Value, typename Number, unsigned int THREADS, unsigned int ITEMS, int HOW = 0>
__global__ void __launch_bounds__(THREADS)
sweep_indices(const Bits *x, Bits *y, Bits *spare, long long *w, Value *value_spare, const Number *starts,
              const unsigned int *route, Number *states, unsigned int *tickets, u64 n, unsigned int passes,
              unsigned int pass)
{
    sweep<Bits, KIND, Value, long long, Number, THREADS, ITEMS, HOW>(x, y, spare, nullptr, w, value_spare, starts,
                                                                route, states, tickets, n, passes, pass);
}
