// The blurred picture is another array.
// warpglass check examples/notes_defects/convolution_in_place_fixed.cu:blur --grid 2x2 --block 16x16
//     --arg all:f4[32,32]:rand --arg out:f4[32,32] --arg i4=32
extern "C" __global__ void blur(const float *picture, float *blurred, int width) {
    __shared__ float tile[18][18];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    for (int k = threadIdx.y * 16 + threadIdx.x; k < 18 * 18; k += 256) {
        int i = blockIdx.x * 16 + k % 18 - 1, j = blockIdx.y * 16 + k / 18 - 1;
        bool inside = i >= 0 && i < width && j >= 0 && j < width;
        tile[k / 18][k % 18] = inside ? picture[j * width + i] : 0;
    }
    __syncthreads();
    float sum = 0;
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) sum += tile[threadIdx.y + a][threadIdx.x + b];
    blurred[y * width + x] = sum / 9;
}
