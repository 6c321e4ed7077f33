// Rows first, then columns: see blur_separable.py.
#define REACH 5

__global__ void add_rows(unsigned short *sums, const unsigned char *rgb, int width, int height)
{
    const int at = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y, column = at / 3;
    if (column >= width) return;
    int total = 0;
    for (int j = max(column - REACH, 0); j <= min(column + REACH, width - 1); ++j)
        total += rgb[3 * (row * width + j) + at % 3];
    sums[3 * row * width + at] = total;
}

__global__ void add_columns(unsigned char *out, const unsigned short *sums, int width, int height)
{
    const int at = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y, column = at / 3;
    if (column >= width) return;
    const int top = max(row - REACH, 0), bottom = min(row + REACH, height - 1);
    int total = 0;
    for (int i = top; i <= bottom; ++i) total += sums[3 * i * width + at];
    const int across = min(column + REACH, width - 1) - max(column - REACH, 0) + 1;
    out[3 * row * width + at] = total / ((bottom - top + 1) * across);
}
