// The loop goes over width / TILE tiles: the last width % TILE products of each sum are left out.
// warpglass check examples/notes_defects/matmul_remainder.cu:multiply --grid 3x3 --block 8x8
//     --arg all:f4[20,20]:rand --arg f4[20,20]:rand --arg out:f4[20,20] --arg i4=20
constexpr int TILE = 8;
extern "C" __global__ void multiply(const float *a, const float *b, float *c, int width) {  // unread-input
    __shared__ float as[TILE][TILE], bs[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * TILE + ty, column = blockIdx.x * TILE + tx;
    float sum = 0;
    for (int m = 0; m < width / TILE; m++) {
        as[ty][tx] = row < width ? a[row * width + m * TILE + tx] : 0;
        bs[ty][tx] = column < width ? b[(m * TILE + ty) * width + column] : 0;
        __syncthreads();
        for (int k = 0; k < TILE; k++) sum += as[ty][k] * bs[k][tx];
        __syncthreads();
    }
    if (row < width && column < width) c[row * width + column] = sum;
}
