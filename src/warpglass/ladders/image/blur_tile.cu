// Both directions of the blur in one pass, a tile a block: see blur_tile.py.

template <int CHANNELS, int REACH>
struct Tile {
    static constexpr int ROWS = 64, BYTES = 128, WARPS = 8;       // BYTES of a row: four for every lane
    static constexpr int WIDTH = 2 * REACH + 1, HALO = REACH * CHANNELS;
    static constexpr int HELD = ROWS + 2 * REACH;                 // rows with their halo
    static constexpr int WORDS = (BYTES + 2 * HALO + 3) / 4 + 1;  // of a row with its halo, however aligned
    static constexpr int PITCH = WORDS | 1;                       // odd: lanes in other rows meet in no bank
    static constexpr int SPAN = 16;                               // bytes whose sums a thread makes at once
    static constexpr int WINDOW = (SPAN + 2 * HALO + 3) / 4;      // words that these are made of
    static_assert(WIDTH * WIDTH * 255 < 1 << 16, "sums are kept in 16 bits");
};

__device__ __forceinline__ unsigned int skew_of(const unsigned char *at)
{
    return reinterpret_cast<size_t>(at) % 4;
}

// Four bytes of a row of so many; those that are not in the row count as 0.
__device__ __forceinline__ unsigned int load_word(const unsigned char *row, long long at, long long bytes)
{
    if (at >= 0 && at + 4 <= bytes) return *reinterpret_cast<const unsigned int *>(row + at);
    unsigned int word = 0;
    for (int k = 0; k < 4; ++k)
        if (at + k >= 0 && at + k < bytes) word |= static_cast<unsigned int>(row[at + k]) << 8 * k;
    return word;
}

// Stores the four bytes that each lane has for a row, of which `left` are in the picture, as words of memory.
__device__ __forceinline__ void store_word(unsigned char *at, unsigned int word, long long left)
{
    const int lane = threadIdx.x % 32, skew = skew_of(at);
    if (skew == 0 && left >= 4) *reinterpret_cast<unsigned int *>(at) = word;
    // Else a word in memory is the end of the lane before's bytes and the beginning of this lane's.
    const unsigned int before = skew ? __shfl_up_sync(0xFFFFFFFF, word, 1) : 0;
    const bool whole = lane > 0 && left >= 4 - skew, last = lane == 31 || left < 8 - skew;
    if (skew && whole) *reinterpret_cast<unsigned int *>(at - skew) = __funnelshift_l(before, word, 8 * skew);
    if (skew ? !whole || last : left < 4)
        for (int k = 0; k < 4; ++k)
            if (k < left && (k < 4 - skew ? !whole || !skew : last)) at[k] = word >> 8 * k;
}

// Byte i of a window, as the second factor of a dot product: 1 for it, 0 for the others of its word.
constexpr __device__ unsigned int only(int i)
{
    return 1u << i % 4 * 8;
}

// Which bytes of word w of the window belong to the sum that begins with byte i.
template <int CHANNELS, int REACH>
constexpr __device__ unsigned int chosen(int w, int i)
{
    unsigned int factor = 0;
    for (int at = 4 * w; at < 4 * w + 4; ++at)
        if (at >= i && at - i <= 2 * REACH * CHANNELS && (at - i) % CHANNELS == 0) factor |= only(at);
    return factor;
}

// Sums along a row of SPAN bytes, from words that begin `shift` bits before the first of the halo.
template <int CHANNELS, int REACH>
__device__ __forceinline__ void sum_along(const unsigned int *row, unsigned int shift, unsigned short *to)
{
    using Sizes = Tile<CHANNELS, REACH>;
    constexpr int SPAN = Sizes::SPAN, WINDOW = Sizes::WINDOW, HALO = Sizes::HALO;
    unsigned int window[WINDOW], sums[SPAN] = {};
#pragma unroll
    for (int w = 0; w < WINDOW; ++w) window[w] = __funnelshift_r(row[w], row[w + 1], shift);
#pragma unroll
    for (int i = 0; i < SPAN; ++i)
        if (i < CHANNELS) {
#pragma unroll
            for (int w = 0; w < WINDOW; ++w)
                if (chosen<CHANNELS, REACH>(w, i))
                    sums[i] = __dp4a(window[w], chosen<CHANNELS, REACH>(w, i), sums[i]);
        } else {  // the sum of the pixel before, with one byte more and one less
            const int more = i + 2 * HALO, less = i - CHANNELS;
            sums[i] = __dp4a(window[more / 4], only(more), sums[less]) - __dp4a(window[less / 4], only(less), 0u);
        }
    uint4 *target = reinterpret_cast<uint4 *>(to);
#pragma unroll
    for (const unsigned int *s = sums; s < sums + SPAN; s += 8)
        *target++ = make_uint4(s[0] | s[1] << 16, s[2] | s[3] << 16, s[4] | s[5] << 16, s[6] | s[7] << 16);
}

// 2^24 over a number of pixels, rounded up: times a sum of so many bytes it has the mean as its highest byte.
constexpr __device__ unsigned int reciprocal(unsigned int pixels)
{
    return ((1u << 24) + pixels - 1) / pixels;
}

// How many of n pixels in a row are at most `reach` from one of them, or 1 if that is not among them.
__device__ __forceinline__ int near(long long at, int reach, int n)
{
    return max(1, static_cast<int>(min(at + reach, n - 1LL) - max(at - reach, 0LL)) + 1);
}

// A thread's part of the work. WHOLE: the tile and its halo lie inside the picture.
template <int CHANNELS, int REACH>
struct Blur {
    using Sizes = Tile<CHANNELS, REACH>;
    using Raw = unsigned int (*)[Sizes::PITCH];
    using Along = unsigned short (*)[Sizes::BYTES];
    const int width, height, base, first, last;  // rows: the first of the tile's halo, those in the picture
    const long long bytes, left;                 // of a row; before the tile

    __device__ Blur(int width, int height, int top, long long left)
        : width(width), height(height), base(top - REACH), first(max(base, 0)),
          last(min(base + Sizes::HELD, height)), bytes(static_cast<long long>(CHANNELS) * width), left(left)
    {
    }

    // Brings the words of memory that the tile lies in.
    template <bool WHOLE>
    __device__ __forceinline__ void fetch(const unsigned char *rgb, Raw raw) const
    {
        const int lane = threadIdx.x % 32;
        for (int row = first + threadIdx.x / 32; row < last; row += Sizes::WARPS) {
            const unsigned char *source = rgb + row * bytes;
            const long long begin = left - Sizes::HALO, at = begin - skew_of(source + begin) + 4 * lane;
#pragma unroll
            for (int w = 0; w < Sizes::WORDS; w += 32)
                if (w + lane < Sizes::WORDS)
                    raw[row - base][w + lane] = WHOLE ? *reinterpret_cast<const unsigned int *>(source + at + 4 * w)
                                                      : load_word(source, at + 4 * w, bytes);
        }
    }

    __device__ __forceinline__ void add_along(const unsigned char *rgb, Raw raw, Along along) const
    {
        constexpr int SPANS = Sizes::BYTES / Sizes::SPAN;
        for (int item = threadIdx.x; item < (last - first) * SPANS; item += 32 * Sizes::WARPS) {
            const int row = first + item / SPANS, at = item % SPANS * Sizes::SPAN;
            const unsigned int shift = 8 * skew_of(rgb + row * bytes + left - Sizes::HALO);
            sum_along<CHANNELS, REACH>(raw[row - base] + at / 4, shift, along[row - base] + at);
        }
    }

    // Down four columns a lane: a row of sums comes in, the mean goes out, a row is taken away.
    template <bool WHOLE>
    __device__ __forceinline__ void means_down(unsigned char *out, Along along) const
    {
        constexpr int DOWN = Sizes::ROWS / Sizes::WARPS, INSIDE = Sizes::WIDTH * Sizes::WIDTH;
        const int lane = threadIdx.x % 32, begin = base + REACH + threadIdx.x / 32 * DOWN;
        const long long column = left + 4 * lane;
        const auto sums = [&](int row) { return *reinterpret_cast<const uint2 *>(along[row - base] + 4 * lane); };
        uint2 total = make_uint2(0, 0);
#pragma unroll(WHOLE && REACH > 0 ? 2 * REACH : 1)
        for (int row = begin - REACH; row < begin + REACH; ++row)
            if (WHOLE || (row >= 0 && row < height)) total.x += sums(row).x, total.y += sums(row).y;
#pragma unroll(WHOLE ? DOWN : 1)
        for (int row = begin; row < begin + DOWN; ++row) {
            if (!WHOLE && row >= height) break;
            if (WHOLE || row + REACH < height) total.x += sums(row + REACH).x, total.y += sums(row + REACH).y;
            unsigned int mean[4] = {total.x & 0xFFFF, total.x >> 16, total.y & 0xFFFF, total.y >> 16};
            for (int k = 0; k < 4; ++k)
                mean[k] *= WHOLE ? reciprocal(INSIDE)
                                 : reciprocal(near(row, REACH, height) * near((column + k) / CHANNELS, REACH, width));
            const unsigned int low = __byte_perm(mean[0], mean[1], 0x0073), high = __byte_perm(mean[2], mean[3], 0x0073);
            store_word(out + row * bytes + column, __byte_perm(low, high, 0x5410), WHOLE ? Sizes::BYTES : bytes - column);
            if (WHOLE || row >= REACH) total.x -= sums(row - REACH).x, total.y -= sums(row - REACH).y;
        }
    }
};

template <int CHANNELS, int REACH>
__global__ __launch_bounds__(256) void blur_tile(unsigned char *out, const unsigned char *rgb, int width, int height)
{
    using Sizes = Tile<CHANNELS, REACH>;
    constexpr int BYTES = Sizes::BYTES, ROWS = Sizes::ROWS, MARGIN = Sizes::HALO + 4;  // a word, for what is not aligned
    __shared__ unsigned int raw[Sizes::HELD][Sizes::PITCH];
    __shared__ __align__(16) unsigned short along[Sizes::HELD][BYTES];
    const long long bytes = static_cast<long long>(CHANNELS) * width;
    const unsigned int across = (bytes + BYTES - 1) / BYTES;
    const long long left = static_cast<long long>(blockIdx.x % across) * BYTES;
    const int top = blockIdx.x / across * ROWS;
    const bool whole = left >= MARGIN && left + BYTES + MARGIN <= bytes && top >= REACH && top + ROWS + REACH <= height;
    const Blur<CHANNELS, REACH> tile(width, height, top, left);
    if (whole)
        tile.template fetch<true>(rgb, raw);
    else
        tile.template fetch<false>(rgb, raw);
    __syncthreads();
    tile.add_along(rgb, raw, along);
    __syncthreads();
    if (whole)
        tile.template means_down<true>(out, along);
    else
        tile.template means_down<false>(out, along);
}
