// One pixel a thread: see grey.py.
__global__ void grey(unsigned char *out, const unsigned char *rgb, int width, int height)
{
    const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= width || row >= height) return;
    const int at = row * width + column;
    out[at] = 0.21f * rgb[3 * at] + 0.71f * rgb[3 * at + 1] + 0.07f * rgb[3 * at + 2];
}
