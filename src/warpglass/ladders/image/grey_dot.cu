// Sixteen pixels a thread, the weighted sum of each in one instruction: see grey_dot.py.
struct alignas(16) Quad {
    unsigned int word[4];
};

constexpr unsigned int WEIGHTS = 21 | 71 << 8 | 7 << 16;  // of red, green and blue, in hundredths
constexpr unsigned int HUNDREDTH = 167773;                // of 2^24, rounded up
constexpr int PIXELS = 16;                                // of a thread

// The grey of the pixel in the lower three bytes of a word is the highest byte of the result.
__device__ __forceinline__ unsigned int grey_of(unsigned int pixel)
{
    return __dp4a(pixel, WEIGHTS, 0u) * HUNDREDTH;
}

// The grey of four pixels, which are three words.
__device__ __forceinline__ unsigned int grey_of(unsigned int a, unsigned int b, unsigned int c)
{
    const unsigned int first = grey_of(a), second = grey_of(__funnelshift_r(a, b, 24));
    const unsigned int third = grey_of(__funnelshift_r(b, c, 16)), fourth = grey_of(c >> 8);
    return __byte_perm(__byte_perm(first, second, 0x0073), __byte_perm(third, fourth, 0x0073), 0x5410);
}

__global__ void grey_dot(unsigned char *out, const unsigned char *rgb, long long pixels)
{
    const long long first = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) * PIXELS;
    const bool aligned = (reinterpret_cast<size_t>(out) | reinterpret_cast<size_t>(rgb)) % sizeof(Quad) == 0;
    if (aligned && first + PIXELS <= pixels) {
        const Quad *source = reinterpret_cast<const Quad *>(rgb + 3 * first);
        const Quad a = source[0], b = source[1], c = source[2];
        Quad grey;
        grey.word[0] = grey_of(a.word[0], a.word[1], a.word[2]);
        grey.word[1] = grey_of(a.word[3], b.word[0], b.word[1]);
        grey.word[2] = grey_of(b.word[2], b.word[3], c.word[0]);
        grey.word[3] = grey_of(c.word[1], c.word[2], c.word[3]);
        *reinterpret_cast<Quad *>(out + first) = grey;
        return;
    }
    for (long long at = first; at < min(first + PIXELS, pixels); ++at)
        out[at] = grey_of(rgb[3 * at] | rgb[3 * at + 1] << 8 | rgb[3 * at + 2] << 16) >> 24;
}
