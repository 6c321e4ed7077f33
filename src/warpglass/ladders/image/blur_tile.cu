// Both directions of the blur in one pass, a tile a block: see blur_tile.py.

// Sizes of a tile in bytes, rows and words.
template <int CHANNELS, int REACH>
struct Tile {
    static constexpr int ROWS = 32, WARPS = 8, SPAN = 16;     // SPAN: bytes whose sums a thread makes at once
    static constexpr int WIDTH = 2 * REACH + 1, HALO = REACH * CHANNELS;
    static constexpr int BYTES = 128;                         // of a row: four for every lane
    static constexpr int HELD = ROWS + 2 * REACH;             // rows with their halo
    static constexpr int WORDS = (BYTES + 2 * HALO + 3) / 4 + 1;  // of a row with its halo, however it is aligned
    static constexpr int PITCH = WORDS | 1;                   // odd: lanes in different rows meet in no bank
    static constexpr int WINDOW = (SPAN + 2 * HALO + 3) / 4;  // words that SPAN sums are made of
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

// Of the four bytes that each lane has for a row, words where addresses allow it; `left` are still in the row.
__device__ __forceinline__ void store_word(unsigned char *at, unsigned int word, long long left, int lane)
{
    const int skew = skew_of(at);
    const unsigned int before = __shfl_up_sync(0xFFFFFFFF, word, 1);
    if (skew == 0 && left >= 4) {
        *reinterpret_cast<unsigned int *>(at) = word;
        return;
    }
    // A word is the end of the lane before's and the beginning of this lane's.
    const bool whole = lane > 0 && left >= 4 - skew, last = lane == 31 || left < 8 - skew;
    if (whole) *reinterpret_cast<unsigned int *>(at - skew) = __funnelshift_l(before, word, 8 * skew);
    for (int k = 0; k < 4; ++k)
        if (k < left && (k < 4 - skew ? !whole : last)) at[k] = word >> 8 * k;
}

__device__ __forceinline__ unsigned int byte_of(const unsigned int *words, int i)
{
    return words[i / 4] >> i % 4 * 8 & 0xFF;
}

// The byte `distance` of a window as the second factor of a dot product: 1 for it, 0 for others in its word.
constexpr __device__ unsigned int only(int distance)
{
    return 1u << distance % 4 * 8;
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
    unsigned int window[WINDOW], sums[SPAN];
#pragma unroll
    for (int w = 0; w < WINDOW; ++w) window[w] = __funnelshift_r(row[w], row[w + 1], shift);
#pragma unroll
    for (int i = 0; i < SPAN; ++i)
        if (i < CHANNELS) {
            sums[i] = 0;
#pragma unroll
            for (int w = 0; w < WINDOW; ++w) sums[i] = __dp4a(window[w], chosen<CHANNELS, REACH>(w, i), sums[i]);
        } else {  // the sum of the pixel before, with one byte more and one less
            const int next = i + 2 * HALO;
            sums[i] = __dp4a(window[next / 4], only(next), sums[i - CHANNELS]) - byte_of(window, i - CHANNELS);
        }
    uint4 *target = reinterpret_cast<uint4 *>(to);
#pragma unroll
    for (const unsigned int *s = sums; s < sums + SPAN; s += 8)
        *target++ = make_uint4(s[0] | s[1] << 16, s[2] | s[3] << 16, s[4] | s[5] << 16, s[6] | s[7] << 16);
}

// 2^24 over a number of pixels, rounded up: a sum of so many bytes times this has the mean as its highest byte.
__device__ __forceinline__ unsigned int reciprocal(int pixels)
{
    return ((1u << 24) + pixels - 1) / pixels;
}

// How many of n pixels in a row are at most `reach` from one of them, or 1 if that is not among them.
__device__ __forceinline__ int near(long long at, int reach, int n)
{
    return max(1, static_cast<int>(min(at + reach, n - 1LL) - max(at - reach, 0LL)) + 1);
}

// Sums down the columns of four bytes a lane, sliding: a row comes in, the mean goes out, a row is taken away.
template <int CHANNELS, int REACH, typename Sums>
__device__ __forceinline__ void means_down(unsigned char *out, Sums sums, int begin, int end, long long column,
                                           int width, int height)
{
    constexpr int WIDTH = Tile<CHANNELS, REACH>::WIDTH;
    const long long bytes = static_cast<long long>(CHANNELS) * width;
    unsigned int pixels[4];  // of a row, that count for each of the four bytes
    for (int k = 0; k < 4; ++k) pixels[k] = near((column + k) / CHANNELS, REACH, width);
    const bool inside = pixels[0] == WIDTH && pixels[3] == WIDTH;
    uint2 total = make_uint2(0, 0);
    for (int row = max(begin - REACH, 0); row < min(begin + REACH, height); ++row)
        total.x += sums(row).x, total.y += sums(row).y;
    for (int row = begin; row < end; ++row) {
        if (row + REACH < height) total.x += sums(row + REACH).x, total.y += sums(row + REACH).y;
        const int rows = near(row, REACH, height);
        unsigned int mean[4] = {total.x & 0xFFFF, total.x >> 16, total.y & 0xFFFF, total.y >> 16};
        if (inside && rows == WIDTH)
            for (int k = 0; k < 4; ++k) mean[k] *= reciprocal(WIDTH * WIDTH);
        else
            for (int k = 0; k < 4; ++k) mean[k] *= reciprocal(rows * pixels[k]);
        const unsigned int low = __byte_perm(mean[0], mean[1], 0x0073), high = __byte_perm(mean[2], mean[3], 0x0073);
        store_word(out + row * bytes + column, __byte_perm(low, high, 0x5410), bytes - column, threadIdx.x % 32);
        if (row >= REACH) total.x -= sums(row - REACH).x, total.y -= sums(row - REACH).y;
    }
}

template <int CHANNELS, int REACH>
__global__ __launch_bounds__(256) void blur_tile(unsigned char *out, const unsigned char *rgb, int width, int height)
{
    using Sizes = Tile<CHANNELS, REACH>;
    constexpr int WARPS = Sizes::WARPS, BYTES = Sizes::BYTES, SPAN = Sizes::SPAN;
    __shared__ unsigned int raw[Sizes::HELD][Sizes::PITCH];
    __shared__ __align__(16) unsigned short along[Sizes::HELD][BYTES];
    const long long bytes = static_cast<long long>(CHANNELS) * width;
    const unsigned int across = (bytes + BYTES - 1) / BYTES;
    const long long left = static_cast<long long>(blockIdx.x % across) * BYTES;
    const int top = blockIdx.x / across * Sizes::ROWS, base = top - REACH, lane = threadIdx.x % 32;
    const int first = max(base, 0), last = min(base + Sizes::HELD, height), warp = threadIdx.x / 32;

    for (int row = first + warp; row < last; row += WARPS) {
        const unsigned char *source = rgb + row * bytes;
        const long long begin = left - Sizes::HALO, word = begin - skew_of(source + begin);
        for (int w = lane; w < Sizes::WORDS; w += 32) raw[row - base][w] = load_word(source, word + 4 * w, bytes);
    }
    __syncthreads();
    for (int item = threadIdx.x; item < (last - first) * (BYTES / SPAN); item += 32 * WARPS) {
        const int row = first + item / (BYTES / SPAN), at = item % (BYTES / SPAN) * SPAN;
        const unsigned int shift = 8 * skew_of(rgb + row * bytes + left - Sizes::HALO);
        sum_along<CHANNELS, REACH>(raw[row - base] + at / 4, shift, along[row - base] + at);
    }
    __syncthreads();
    const auto sums = [&](int row) { return *reinterpret_cast<const uint2 *>(along[row - base] + 4 * lane); };
    const int begin = top + warp * (Sizes::ROWS / WARPS), end = min(begin + Sizes::ROWS / WARPS, height);
    means_down<CHANNELS, REACH>(out, sums, begin, end, left + 4 * lane, width, height);
}
