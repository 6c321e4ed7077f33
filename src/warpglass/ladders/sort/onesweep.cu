// Radix sort with a single sweep over the keys for each digit: see onesweep.py.
#include "radix.cuh"

constexpr unsigned int SKIPPED = ~0u;

// A grid sorts a row of n keys for every y: where it starts in all rows, and in what there is for each y.
__device__ __forceinline__ u64 row_start(u64 first_row, u64 n) { return (first_row + blockIdx.y) * n; }
__device__ __forceinline__ u64 own_part(u64 size) { return blockIdx.y * size; }

// Which of the passes that move keys a pass is, and between which arrays it moves them: first from x, then to
// y and spare in turns, to y at last.
struct Turn {
    unsigned int number, left;  // of such passes: how many were before, how many there are from here on

    __device__ Turn(const unsigned int *route, unsigned int passes, unsigned int pass)
        : number(route[pass]), left(route[passes] - route[pass]) {}
    __device__ bool skipped() const { return number == SKIPPED; }
    __device__ bool first() const { return number == 0; }
    __device__ bool last() const { return left == 1; }

    template <typename T>
    __device__ const T *from(const T *x, const T *y, const T *spare) const
    {
        return first() ? x : left % 2 ? spare : y;
    }

    template <typename T>
    __device__ T *to(T *y, T *spare) const
    {
        return left % 2 ? y : spare;
    }
};

// Calls visit(bits) for all keys of the grid's share, sixteen bytes at a time from the first such address on.
template <typename Bits, typename Visit>
__device__ __forceinline__ void each_key(const Bits *x, u64 n, Visit visit)
{
    constexpr unsigned int WIDE = 16 / sizeof(Bits);
    const u64 thread = blockIdx.x * u64(blockDim.x) + threadIdx.x, threads = gridDim.x * u64(blockDim.x);
    const u64 head = min(n, u64(-reinterpret_cast<u64>(x) % 16 / sizeof(Bits)));
    const u64 body = (n - head) / WIDE, tail = head + body * WIDE;
    if (thread < head) visit(x[thread]);
    for (u64 k = thread; k < body; k += threads) {
        const uint4 words = reinterpret_cast<const uint4 *>(x + head)[k];
        Bits keys[WIDE];
        memcpy(keys, &words, sizeof(words));
#pragma unroll
        for (unsigned int j = 0; j < WIDE; ++j) visit(keys[j]);
    }
    if (tail + thread < n) visit(x[tail + thread]);
}

// Counts every digit of every key in one reading, in COPIES that lie a word apart: few lanes of a warp want
// the same bank. The last block to finish makes of the counts where in the result the bins start, and decides
// which passes there will be. For every y:
//   totals   [PASSES][BINS] and, behind them, a count of blocks: zeros, and zeros again at the end
//   starts   [PASSES][BINS]
//   route    [PASSES + 1]: a pass's number or SKIPPED; how many there are
//   states   [2][state_count], of which the first half becomes zeros
//   tickets  [PASSES], which become zeros
template <typename T, typename Count, unsigned int PASSES, unsigned int COPIES>
__global__ void count_digits(const T *x, Count *totals, Count *starts, unsigned int *route, Count *states,
                             unsigned int *tickets, u64 state_count, u64 first_row, u64 n,
                             unsigned int in_place)
{
    extern __shared__ unsigned int counts[];  // [PASSES][BINS][COPIES]
    __shared__ Count sums[BINS / 32];
    __shared__ Count finished;
    const unsigned int t = threadIdx.x;
    totals += own_part(PASSES * BINS + 1), starts += own_part(PASSES * BINS), route += own_part(PASSES + 1);
    states += own_part(2 * state_count), tickets += own_part(PASSES);

    for (unsigned int k = t; k < PASSES * BINS * COPIES; k += blockDim.x) counts[k] = 0;
    __syncthreads();
    each_key(bits_of(x) + row_start(first_row, n), n, [&](BitsOf<T> bits) {
        const u64 key = ordered<T>(bits);
#pragma unroll
        for (unsigned int pass = 0; pass < PASSES; ++pass) {
            const unsigned int digit = key >> pass * DIGIT_BITS & (BINS - 1);
            atomicAdd(&counts[(pass * BINS + digit) * COPIES + t % COPIES], 1);
        }
    });
    for (u64 k = blockIdx.x * u64(blockDim.x) + t; k < state_count; k += gridDim.x * u64(blockDim.x))
        states[k] = 0;
    __syncthreads();
    for (unsigned int k = t; k < PASSES * BINS; k += blockDim.x) {
        unsigned int count = 0;
        for (unsigned int copy = 0; copy < COPIES; ++copy) count += counts[k * COPIES + (copy + t) % COPIES];
        if (count > 0) atomicAdd(&totals[k], Count(count));
    }

    __threadfence();
    __syncthreads();
    if (t == 0) finished = atomicAdd(&totals[PASSES * BINS], Count(1));
    __syncthreads();
    if (finished != gridDim.x - 1) return;
    __threadfence();
    unsigned int moving = 0;  // a bit for every pass that moves a key
    for (unsigned int pass = 0; pass < PASSES; ++pass) {
        const unsigned int k = pass * BINS + t;
        const Count total = t < BINS ? atomicExch(&totals[k], Count(0)) : 0;
        const Count start = sum_before(total, sums);
        if (t < BINS) starts[k] = start;
        if (!__syncthreads_or(t < BINS && total == n)) moving |= 1u << pass;
    }
    if (t > 0) return;
    // An even number of passes brings the keys back to where they were; at least one takes them elsewhere.
    if (in_place ? __popc(moving) % 2 : moving == 0) moving |= ~moving & (moving + 1);
    for (unsigned int pass = 0; pass < PASSES; ++pass) {
        route[pass] = moving >> pass & 1 ? __popc(moving & ((1u << pass) - 1)) : SKIPPED;
        tickets[pass] = 0;
    }
    route[PASSES] = __popc(moving);
    totals[PASSES * BINS] = 0;
}

// What a tile has made known of a bin, in the highest two bits of its state: nothing, its own keys, all up to
// its last.
enum Known { NOTHING, OWN, ALL };

template <typename Count>
struct State {
    static constexpr unsigned int SHIFT = 8 * sizeof(Count) - 2;

    static __device__ Count of(Known known, Count count) { return Count(known) << SHIFT | count; }
    static __device__ unsigned int known(Count state) { return unsigned(state >> SHIFT); }
    static __device__ Count count(Count state) { return state & ((Count(1) << SHIFT) - 1); }
};

// The keys in a bin in all tiles before this one.
template <typename Count>
__device__ __forceinline__ Count look_back(const volatile Count *states, unsigned int tile, unsigned int bin)
{
    constexpr unsigned int WINDOW = 4;  // loads under way together
    Count sum = 0;
    unsigned int next = tile;  // tiles from here on are in `sum`
    while (true) {
        Count seen[WINDOW];
#pragma unroll
        for (unsigned int k = 0; k < WINDOW; ++k)
            seen[k] = k < next ? states[(next - 1 - k) * u64(BINS) + bin] : State<Count>::of(ALL, 0);
#pragma unroll
        for (unsigned int k = 0; k < WINDOW; ++k) {
            const unsigned int known = State<Count>::known(seen[k]);
            if (known == NOTHING) break;
            sum += State<Count>::count(seen[k]);
            if (known == ALL) return sum;
            --next;
        }
    }
}

// One digit: keys, and values with them, go from one array to another; equal digits stay in order.
//   x -> y or spare -> ... -> y; x may be y if the passes are even in number (count_digits sees to it)
//   v, w, value_spare: values, likewise; no v: the indices of the keys; Final: their type at last
//   states   [2][tiles][BINS], zeros for the first pass: every pass clears those of the next
template <typename T, typename Value, typename Final, typename Count, unsigned int THREADS,
          unsigned int ITEMS>
__device__ __forceinline__ void sweep(const BitsOf<T> *x, BitsOf<T> *y, BitsOf<T> *spare, const Value *v,
                                      Final *w, Value *value_spare, const Count *starts,
                                      const unsigned int *route, Count *states, unsigned int *tickets, u64 n,
                                      unsigned int passes, unsigned int pass)
{
    using Part = Tile<THREADS, ITEMS>;
    using Bits = BitsOf<T>;
    extern __shared__ __align__(16) unsigned char raw[];
    Counts<Part::WARPS> counts = *reinterpret_cast<unsigned int (*)[Part::WARPS][BINS]>(raw);
    Value *sorted_values = reinterpret_cast<Value *>(raw + sizeof(counts));
    Bits *sorted = reinterpret_cast<Bits *>(sorted_values + (EXISTS<Value> ? Part::SIZE : 0));
    __shared__ Count targets[BINS];  // where in the result a key at place 0 of the tile would be, by bin
    __shared__ unsigned int sums[BINS / 32], my_tile;

    const unsigned int t = threadIdx.x, shift = pass * DIGIT_BITS;
    const Turn turn(route + own_part(passes + 1), passes, pass);
    if (turn.skipped()) return;
    // Tiles go to blocks in the order in which they start: every tile before this one has a block that runs.
    if (t == 0) my_tile = atomicAdd(&tickets[own_part(passes) + pass], 1);
    __syncthreads();
    const unsigned int tile = my_tile;
    const u64 first = tile * u64(Part::SIZE), row = tile * u64(BINS), half = gridDim.x * u64(BINS);
    const unsigned int size = unsigned(min(u64(Part::SIZE), n - first));
    starts += own_part(passes * BINS) + pass * BINS;
    states += own_part(2 * half);
    Count *own_states = states + turn.number % 2 * half;
    Count *other_states = states + (turn.number + 1) % 2 * half;

    const Bits *from = turn.from<Bits>(x, y, spare) + first;
    Bits keys[ITEMS];
#pragma unroll
    for (unsigned int item = 0; item < ITEMS; ++item) {
        const unsigned int k = Part::index(item);
        keys[item] = k < size ? from[k] : last_key<T>();
    }
    const unsigned int total = count_tile<T, THREADS>(keys, shift, counts);
    if (t < BINS) {
        *(volatile Count *)&own_states[row + t] = State<Count>::of(tile == 0 ? ALL : OWN, total);
        other_states[row + t] = 0;
    }
    Value values[ITEMS];
    if constexpr (EXISTS<Value>) {
        const Value *kept = reinterpret_cast<const Value *>(w);
        const Value *from_values = turn.from<Value>(v, kept, value_spare) + first;
#pragma unroll
        for (unsigned int item = 0; item < ITEMS; ++item) {
            const unsigned int k = Part::index(item);
            if (v == nullptr && turn.first())
                values[item] = Value(first + k);
            else
                values[item] = k < size ? from_values[k] : Value(0);
        }
    }
    const unsigned int start = start_bins(total, counts, sums);
#pragma unroll
    for (unsigned int item = 0; item < ITEMS; ++item) {
        const unsigned int place = next_place(digit_of<T>(keys[item], shift), counts[t / 32]);
        sorted[place] = keys[item];
        if constexpr (EXISTS<Value>) sorted_values[place] = values[item];
    }
    if (t < BINS) {
        const Count before = look_back(own_states, tile, t);
        *(volatile Count *)&own_states[row + t] = State<Count>::of(ALL, before + total);
        targets[t] = starts[t] + before - start;
    }
    __syncthreads();

    Bits *to = turn.to(y, spare);
#pragma unroll
    for (unsigned int item = 0; item < ITEMS; ++item) {
        const unsigned int k = item * THREADS + t;
        if (k >= size) continue;
        const Count target = targets[digit_of<T>(sorted[k], shift)] + k;
        to[target] = sorted[k];
        if constexpr (EXISTS<Value>) {
            if (turn.last())
                w[target] = Final(sorted_values[k]);
            else
                turn.to(reinterpret_cast<Value *>(w), value_spare)[target] = sorted_values[k];
        }
    }
}

template <typename T, typename Count, unsigned int THREADS, unsigned int ITEMS, unsigned int BLOCKS>
__global__ void __launch_bounds__(THREADS, BLOCKS)
sweep_keys(const T *x, T *y, T *spare, const Count *starts, const unsigned int *route, Count *states,
           unsigned int *tickets, u64 first_row, u64 n, unsigned int passes, unsigned int pass)
{
    const u64 begin = row_start(first_row, n), own = own_part(n);
    sweep<T, Nothing, Nothing, Count, THREADS, ITEMS>(bits_of(x) + begin, bits_of(y) + begin,
                                                      bits_of(spare) + own, nullptr, nullptr, nullptr, starts,
                                                      route, states, tickets, n, passes, pass);
}

template <typename T, typename V, typename Count, unsigned int THREADS, unsigned int ITEMS,
          unsigned int BLOCKS>
__global__ void __launch_bounds__(THREADS, BLOCKS)
sweep_pairs(const T *x, T *y, T *spare, const V *v, V *w, V *value_spare, const Count *starts,
            const unsigned int *route, Count *states, unsigned int *tickets, u64 first_row, u64 n,
            unsigned int passes, unsigned int pass)
{
    const u64 begin = row_start(first_row, n), own = own_part(n);
    sweep<T, BitsOf<V>, BitsOf<V>, Count, THREADS, ITEMS>(
        bits_of(x) + begin, bits_of(y) + begin, bits_of(spare) + own, bits_of(v) + begin, bits_of(w) + begin,
        bits_of(value_spare) + own, starts, route, states, tickets, n, passes, pass);
}

// The indices of the sorted keys, as numbers of type Count until the last pass; y: as spare.
template <typename T, typename Count, unsigned int THREADS, unsigned int ITEMS, unsigned int BLOCKS>
__global__ void __launch_bounds__(THREADS, BLOCKS)
sweep_indices(const T *x, T *y, T *spare, long long *w, Count *value_spare, const Count *starts,
              const unsigned int *route, Count *states, unsigned int *tickets, u64 first_row, u64 n,
              unsigned int passes, unsigned int pass)
{
    const u64 begin = row_start(first_row, n), own = own_part(n);
    sweep<T, Count, long long, Count, THREADS, ITEMS>(bits_of(x) + begin, bits_of(y) + own,
                                                      bits_of(spare) + own, nullptr, w + begin,
                                                      value_spare + own, starts, route, states, tickets, n,
                                                      passes, pass);
}
