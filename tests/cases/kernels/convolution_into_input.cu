// A 2-D convolution stores its result into its input, which other blocks have not yet read.
// launch: grid=2,2 block=8,8 args=f4[16,16]:rand,f4[16,16]
extern "C" __global__ void convolution_into_input(float *image, float *result) {
    int column = blockIdx.x * 8 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    float sum = 0;
    for (int dy = -1; dy <= 1; dy++) {
        for (int dx = -1; dx <= 1; dx++) {
            int c = column + dx, r = row + dy;
            if (c >= 0 && c < 16 && r >= 0 && r < 16) sum += image[16 * r + c] / 9;  // OTHER
        }
    }
    if (BUGGY) image[16 * row + column] = sum;  // BUG: global-race
    else result[16 * row + column] = sum;
}
