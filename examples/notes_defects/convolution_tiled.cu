// The tile's inner part is loaded without asking whether there is such an element.
// warpglass check examples/notes_defects/convolution_tiled.cu:convolve --grid 4 --block 32
//     --arg f4[100]:rand --arg f4[5]:rand --arg out:f4[100] --arg i4=100
constexpr int RADIUS = 2, BLOCK = 32;
extern "C" __global__ void convolve(const float *x, const float *mask, float *y, int n) {
    __shared__ float tile[BLOCK + 2 * RADIUS];
    int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
    tile[t + RADIUS] = x[i];  // out-of-bounds
    if (t < RADIUS) {
        tile[t] = i >= RADIUS ? x[i - RADIUS] : 0;
        tile[t + BLOCK + RADIUS] = i + BLOCK < n ? x[i + BLOCK] : 0;
    }
    __syncthreads();
    float sum = 0;
    for (int k = 0; k <= 2 * RADIUS; k++) sum += tile[t + k] * mask[k];
    if (i < n) y[i] = sum;
}
