// Four pixels a thread, as words: see grey_words.py.
__device__ unsigned int grey_of(unsigned int red, unsigned int green, unsigned int blue)
{
    return 0.21f * red + 0.71f * green + 0.07f * blue;
}

__device__ unsigned int byte_of(const unsigned int *words, int i)
{
    return words[i / 4] >> i % 4 * 8 & 0xff;
}

__global__ void grey_words(unsigned char *out, const unsigned char *rgb, int width, int height)
{
    const int pixels = width * height, first = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (first + 4 <= pixels) {
        const unsigned int *source = reinterpret_cast<const unsigned int *>(rgb + 3 * first);
        const unsigned int words[3] = {source[0], source[1], source[2]};
        unsigned int result = 0;
#pragma unroll
        for (int i = 0; i < 4; ++i)
            result |= grey_of(byte_of(words, 3 * i), byte_of(words, 3 * i + 1), byte_of(words, 3 * i + 2)) << 8 * i;
        *reinterpret_cast<unsigned int *>(out + first) = result;
        return;
    }
    for (int at = first; at < pixels; ++at) out[at] = grey_of(rgb[3 * at], rgb[3 * at + 1], rgb[3 * at + 2]);
}
