// One pass over the array, with decoupled look-back between tiles: see single_pass.py.

constexpr unsigned int PER_THREAD = 7;  // odd: the threads' elements lie in different banks
enum State : unsigned int { NOTHING, TOTAL_KNOWN, SUM_KNOWN };

// The inclusive scan of a warp's values.
template <typename T>
__device__ __forceinline__ T scan_warp(T value, unsigned int lane)
{
    for (unsigned int stride = 1; stride < 32; stride *= 2) {
        const T before = __shfl_up_sync(0xffffffffu, value, stride);
        if (lane >= stride) value = before + value;
    }
    return value;
}

// The sum of all tiles before `tile`, by one warp: each lane waits for one of 32 tiles, the nearest first.
template <typename T>
__device__ T look_back(unsigned int *states, const T *totals, const T *prefixes, unsigned int tile,
                       unsigned int lane)
{
    T sum = T(0);
    unsigned int nearest = tile;  // tiles from here on are in `sum`
    while (nearest > 0) {
        const bool exists = lane < nearest;
        const unsigned int other = exists ? nearest - 1 - lane : 0;
        unsigned int state = exists ? NOTHING : SUM_KNOWN;
        while (state == NOTHING) state = *(volatile unsigned int *)&states[other];
        __threadfence();  // what was stored before the state is visible from here on
        const unsigned int known = __ballot_sync(0xffffffffu, state == SUM_KNOWN);
        const unsigned int last = known ? __ffs(known) - 1 : 31;  // the first lane that knows everything before
        T part = T(0);
        if (exists && lane < last) part = totals[other];
        if (exists && lane == last) part = state == SUM_KNOWN ? prefixes[other] : totals[other];
        for (unsigned int stride = 16; stride > 0; stride /= 2)
            part = __shfl_down_sync(0xffffffffu, part, stride) + part;
        sum = __shfl_sync(0xffffffffu, part, 0) + sum;
        nearest = known || nearest <= 32 ? 0 : nearest - 32;
    }
    return sum;
}

template <typename T>
__global__ void single_pass(const T *x, T *y, T *totals, T *prefixes, unsigned int *states,
                            unsigned int *ticket, unsigned int n)
{
    extern __shared__ __align__(16) unsigned char raw[];
    T *s = reinterpret_cast<T *>(raw);
    __shared__ T sums[32];  // of the warps
    __shared__ T before_tile;
    __shared__ unsigned int my_tile;
    const unsigned int t = threadIdx.x, lane = t % 32, warp = t / 32, warps = blockDim.x / 32;

    // Tiles go to blocks in the order in which they start, so every tile before this one has a block that runs.
    if (t == 0) my_tile = atomicAdd(ticket, 1);
    __syncthreads();
    const unsigned int tile = my_tile, first = tile * PER_THREAD * blockDim.x;

    for (unsigned int k = t; k < PER_THREAD * blockDim.x; k += blockDim.x)
        s[k] = first + k < n ? x[first + k] : T(0);
    __syncthreads();

    T own[PER_THREAD];
    T value = T(0);
    for (unsigned int k = 0; k < PER_THREAD; ++k) own[k] = value = value + s[t * PER_THREAD + k];
    T inclusive = scan_warp(value, lane);
    if (lane == 31) sums[warp] = inclusive;
    __syncthreads();

    if (warp == 0) {
        const T sum = scan_warp(lane < warps ? sums[lane] : T(0), lane);
        const T total = __shfl_sync(0xffffffffu, sum, warps - 1);
        __syncwarp();
        if (lane < warps) sums[lane] = sum;
        if (lane == 0) {
            (tile == 0 ? prefixes : totals)[tile] = total;
            __threadfence();
            *(volatile unsigned int *)&states[tile] = tile == 0 ? SUM_KNOWN : TOTAL_KNOWN;
        }
        const T before = look_back(states, totals, prefixes, tile, lane);
        if (lane == 0 && tile > 0) {
            prefixes[tile] = before + total;
            __threadfence();
            *(volatile unsigned int *)&states[tile] = SUM_KNOWN;
        }
        if (lane == 0) before_tile = before;
    }
    __syncthreads();

    T before = __shfl_up_sync(0xffffffffu, inclusive, 1);
    if (lane == 0) before = T(0);
    if (warp > 0) before = sums[warp - 1] + before;
    before = before_tile + before;
    for (unsigned int k = 0; k < PER_THREAD; ++k) s[t * PER_THREAD + k] = before + own[k];
    __syncthreads();
    for (unsigned int k = t; k < PER_THREAD * blockDim.x; k += blockDim.x)
        if (first + k < n) y[first + k] = s[k];
}
