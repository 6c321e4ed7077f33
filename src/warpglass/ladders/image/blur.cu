// The mean of 11 x 11 pixels, one pixel a thread: see blur.py.
#define REACH 5

__global__ void blur(unsigned char *out, const unsigned char *rgb, int width, int height)
{
    const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= width || row >= height) return;
    int red = 0, green = 0, blue = 0, pixels = 0;
    for (int i = row - REACH; i <= row + REACH; ++i)
        for (int j = column - REACH; j <= column + REACH; ++j)
            if (i >= 0 && i < height && j >= 0 && j < width) {
                const int at = 3 * (i * width + j);
                red += rgb[at], green += rgb[at + 1], blue += rgb[at + 2];
                ++pixels;
            }
    const int at = 3 * (row * width + column);
    out[at] = red / pixels, out[at + 1] = green / pixels, out[at + 2] = blue / pixels;
}
