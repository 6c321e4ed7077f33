// The grid is rounded up to whole blocks, and threads behind the last element store as well.
// warpglass check examples/notes_defects/convolution_basic.cu:convolve --grid 4 --block 32
//     --arg f4[100]:rand --arg f4[5]:rand --arg out:f4[100] --arg i4=5 --arg i4=100
extern "C" __global__ void convolve(const float *x, const float *mask, float *y, int width, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, start = i - width / 2;
    float sum = 0;
    for (int k = 0; k < width; k++)
        if (start + k >= 0 && start + k < n) sum += x[start + k] * mask[k];
    y[i] = sum;  // out-of-bounds
}
