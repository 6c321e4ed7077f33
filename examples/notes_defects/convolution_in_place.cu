// The blurred picture is stored into the picture itself, whose pixels other blocks have yet to read.
// warpglass check examples/notes_defects/convolution_in_place.cu:blur --grid 2x2 --block 16x16
//     --arg f4[32,32]:rand --arg i4=32
extern "C" __global__ void blur(float *picture, int width) {
    __shared__ float tile[18][18];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    for (int k = threadIdx.y * 16 + threadIdx.x; k < 18 * 18; k += 256) {
        int i = blockIdx.x * 16 + k % 18 - 1, j = blockIdx.y * 16 + k / 18 - 1;
        bool inside = i >= 0 && i < width && j >= 0 && j < width;
        tile[k / 18][k % 18] = inside ? picture[j * width + i] : 0;  // global-race
    }
    __syncthreads();
    float sum = 0;
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) sum += tile[threadIdx.y + a][threadIdx.x + b];
    picture[y * width + x] = sum / 9;  // global-race
}
