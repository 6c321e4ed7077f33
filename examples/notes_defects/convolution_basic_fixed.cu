// Only threads that have an element store one.
// warpglass check examples/notes_defects/convolution_basic_fixed.cu:convolve --grid 4 --block 32
//     --arg f4[100]:rand --arg f4[5]:rand --arg out:f4[100] --arg i4=5 --arg i4=100
extern "C" __global__ void convolve(const float *x, const float *mask, float *y, int width, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, start = i - width / 2;
    if (i >= n) return;
    float sum = 0;
    for (int k = 0; k < width; k++)
        if (start + k >= 0 && start + k < n) sum += x[start + k] * mask[k];
    y[i] = sum;
}
