// One pass whose look-back adds in a fixed order: see ordered_look_back.py.
#include <cuda_fp16.h>

typedef unsigned long long Word;
constexpr unsigned int ALL = 0xffffffffu;  // a whole warp
constexpr unsigned int GROUP = 32;         // tiles of a group, one for each lane
constexpr unsigned int SPAN = 16;          // groups that a block looks at, its own and those before it

// Neighbours that one instruction loads or stores, and what it takes them for.
template <unsigned int BYTES> struct Bits;
template <> struct Bits<1> { typedef unsigned char type; };
template <> struct Bits<2> { typedef unsigned short type; };
template <> struct Bits<4> { typedef unsigned int type; };
template <> struct Bits<8> { typedef uint2 type; };
template <> struct Bits<16> { typedef uint4 type; };
template <typename T, unsigned int N>
struct alignas(N * sizeof(T)) Pack {
    typedef typename Bits<N * sizeof(T)>::type Loaded;
    T values[N];
};

// A value travels in words of 64 bits: 32 of the value and a mark. No fence need stand between the two.
template <typename A>
__device__ void tell(Word *words, A value)
{
    unsigned int bits[sizeof(A) / 4];
    memcpy(bits, &value, sizeof(A));
    for (unsigned int k = 0; k < sizeof(A) / 4; ++k) static_cast<volatile Word *>(words)[k] = 1ull << 32 | bits[k];
}

// Whether a value has been told, whole.
template <typename A>
__device__ bool ask(const Word *words, A &value)
{
    unsigned int bits[sizeof(A) / 4];
    bool told = true;
    for (unsigned int k = 0; k < sizeof(A) / 4; ++k) {
        const Word word = static_cast<const volatile Word *>(words)[k];
        bits[k] = word;
        told = told && word != 0;
    }
    memcpy(&value, bits, sizeof(A));
    return told;
}

// The inclusive scan of a warp's values.
template <typename A>
__device__ __forceinline__ A scan_warp(A value, unsigned int lane)
{
    for (unsigned int stride = 1; stride < 32; stride *= 2) {
        const A before = __shfl_up_sync(ALL, value, stride);
        if (lane >= stride) value = before + value;
    }
    return value;
}

// The sum of a warp's values: always the same tree.
template <typename A>
__device__ A sum_of_warp(A value)
{
    for (unsigned int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(ALL, value, distance);
    return value;
}

// By one warp: waits for the first `count` tiles of a group, for their sum; or, with `from_first`, for the sum of
// all tiles up to the end of the group, if that is told earlier. Returns which it is.
template <typename A>
__device__ bool look_at(const Word *tiles, const Word *group, unsigned int count, bool from_first, A &sum)
{
    constexpr unsigned int WORDS = sizeof(A) / 4;
    const unsigned int lane = threadIdx.x % 32;
    A part = A(-0.0), up_to_here;
    bool told = lane >= count, summed = false;
    do {
        summed = from_first && ask(group, up_to_here);
        if (!told) told = ask(&tiles[lane * WORDS], part);
        summed = __all_sync(ALL, summed);
    } while (!summed && !__all_sync(ALL, told));
    sum = summed ? up_to_here : sum_of_warp(lane < count ? part : A(-0.0));
    return summed;
}

// By a whole block: the sum of all tiles before `tile`, as `outside` its group + `inside` it. What is outside is
// ((sum up to the end of a group) + the next group) + ... from the nearest group on that knows the former: as that
// group added, so that it does not matter where it begins.
template <unsigned int WARPS, typename A>
__device__ void look_back(const Word *tiles, const Word *groups, unsigned int tile, A &outside, A &inside)
{
    constexpr unsigned int WORDS = sizeof(A) / 4;
    __shared__ A sums[SPAN];
    __shared__ bool from_first[SPAN];
    const unsigned int group = tile / GROUP, lane = threadIdx.x % 32;
    for (unsigned int back = threadIdx.x / 32; back < SPAN && back <= group; back += WARPS) {
        const unsigned int other = group - back;
        A sum;
        const bool summed = look_at(&tiles[other * GROUP * WORDS], &groups[other * WORDS],
                                    back > 0 ? GROUP : tile % GROUP, back > 0, sum);
        if (lane == 0) sums[back] = sum, from_first[back] = summed;
    }
    __syncthreads();
    unsigned int back = 1;
    while (back < SPAN && back <= group && !from_first[back]) ++back;
    outside = A(-0.0);
    if (back < SPAN && back <= group) {
        outside = sums[back];
    } else if (back == SPAN) {
        back = SPAN - 1;
        while (!ask(&groups[(group - back) * WORDS], outside)) {}
    }
    while (--back > 0) outside = outside + sums[back];
    inside = sums[0];
}

template <typename T, unsigned int N>
__device__ __forceinline__ void load_pack(const T *x, Pack<T, N> &pack)
{
    typedef typename Pack<T, N>::Loaded Loaded;
    const Loaded bits = __ldcs(reinterpret_cast<const Loaded *>(x));
    memcpy(&pack, &bits, sizeof(pack));
}

// The elements of a thread: ROWS packs, each 32 packs from the one before, in a tile that is whole or the last.
// Those beyond the n-th do not matter.
template <unsigned int ROWS, unsigned int WIDTH, typename T, typename A>
__device__ __forceinline__ void load(const T *x, unsigned long long first, unsigned long long n, bool whole,
                                     A (&values)[ROWS][WIDTH])
{
    typedef Pack<T, WIDTH> P;
    const bool aligned = reinterpret_cast<unsigned long long>(x) % sizeof(P) == 0;
    P loaded[ROWS];
    if (aligned && whole) {
        for (unsigned int r = 0; r < ROWS; ++r) load_pack(&x[first + r * 32 * WIDTH], loaded[r]);
    } else {
        for (unsigned int r = 0; r < ROWS; ++r) {
            const unsigned long long i = first + r * 32 * WIDTH;
            if (aligned && i + WIDTH <= n)
                load_pack(&x[i], loaded[r]);
            else
                for (unsigned int k = 0; k < WIDTH; ++k) loaded[r].values[k] = i + k < n ? x[i + k] : T(0);
        }
    }
    for (unsigned int r = 0; r < ROWS; ++r)
        for (unsigned int k = 0; k < WIDTH; ++k) values[r][k] = A(loaded[r].values[k]);
}

template <unsigned int ROWS, unsigned int WIDTH, typename R, typename A>
__device__ __forceinline__ void store(R *y, unsigned long long first, unsigned long long n, bool whole,
                                      const A (&before)[ROWS], const A (&values)[ROWS][WIDTH])
{
    typedef Pack<R, WIDTH> P;
    const bool aligned = reinterpret_cast<unsigned long long>(y) % sizeof(P) == 0, packs = aligned && whole;
    for (unsigned int r = 0; r < ROWS; ++r) {
        const unsigned long long i = first + r * 32 * WIDTH;
        P stored;
        for (unsigned int k = 0; k < WIDTH; ++k) stored.values[k] = R(before[r] + values[r][k]);
        if (packs || (aligned && i + WIDTH <= n)) {
            typename P::Loaded bits;
            memcpy(&bits, &stored, sizeof(P));
            __stcs(reinterpret_cast<typename P::Loaded *>(&y[i]), bits);
        } else {
            for (unsigned int k = 0; k < WIDTH; ++k)
                if (i + k < n) y[i + k] = stored.values[k];
        }
    }
}

// Scans T in the type A, whose prefix sums become R. An addition of -0 changes nothing, not even another -0.
template <typename T, typename A, typename R, unsigned int BLOCK, unsigned int ROWS>
__global__ void __launch_bounds__(BLOCK, BLOCK < 1024 ? 1024 / BLOCK : 1)
ordered_look_back(const T *x, R *y, Word *tiles, Word *groups, unsigned int *done, unsigned long long n)
{
    constexpr unsigned int WIDTH = 16 / (sizeof(T) > sizeof(R) ? sizeof(T) : sizeof(R)), WORDS = sizeof(A) / 4;
    constexpr unsigned int WARPS = BLOCK / 32, TILE = BLOCK * ROWS * WIDTH;
    __shared__ A sums[WARPS];
    const unsigned int t = threadIdx.x, lane = t % 32, warp = t / 32;
    const unsigned int tile = blockIdx.x, group = tile / GROUP, count = gridDim.x;  // blocks start in this order
    const unsigned long long first = static_cast<unsigned long long>(tile) * TILE + warp * (TILE / WARPS) + lane * WIDTH;
    const bool whole_tile = static_cast<unsigned long long>(tile + 1) * TILE <= n;

    // A warp scans its rows of packs one by one; `before` is its sum before a pack.
    A values[ROWS][WIDTH], before[ROWS], total = A(-0.0);
    load<ROWS, WIDTH>(x, first, n, whole_tile, values);
    for (unsigned int r = 0; r < ROWS; ++r) {
        for (unsigned int k = 1; k < WIDTH; ++k) values[r][k] = values[r][k - 1] + values[r][k];
        const A inclusive = scan_warp(values[r][WIDTH - 1], lane), exclusive = __shfl_up_sync(ALL, inclusive, 1);
        before[r] = lane > 0 ? total + exclusive : total;
        total = total + __shfl_sync(ALL, inclusive, 31);
    }
    if (lane == 0) sums[warp] = total;
    __syncthreads();
    const A upto = scan_warp(lane < WARPS ? sums[lane] : A(-0.0), lane);  // warp `lane`
    const A whole = __shfl_sync(ALL, upto, WARPS - 1), warps_before = __shfl_sync(ALL, upto, (warp + 31) % 32);
    if (t == 0) tell(&tiles[tile * WORDS], whole);

    A outside, inside;
    look_back<WARPS>(tiles, groups, tile, outside, inside);
    if (tile % GROUP == GROUP - 1 && warp == 0) {
        A part = whole;
        if (lane < GROUP - 1) ask(&tiles[(tile - tile % GROUP + lane) * WORDS], part);
        part = outside + sum_of_warp(part);
        if (lane == 0) tell(&groups[group * WORDS], part);
    }
    unsigned int last = 0;
    if (t == 0) {
        __threadfence();
        last = atomicInc(done, count - 1) == count - 1;
    }
    A before_warp = outside + inside;
    if (warp > 0) before_warp = before_warp + warps_before;
    for (unsigned int r = 0; r < ROWS; ++r) before[r] = before_warp + before[r];
    store<ROWS, WIDTH>(y, first, n, whole_tile, before, values);

    // Nobody looks back any more: the last block's first warp forgets what has been told.
    if (warp == 0 && __shfl_sync(ALL, last, 0)) {
        __threadfence();
        for (unsigned int i = lane; i < count * WORDS; i += 32) tiles[i] = 0;
        for (unsigned int i = lane; i < (count + GROUP - 1) / GROUP * WORDS; i += 32) groups[i] = 0;
    }
}
