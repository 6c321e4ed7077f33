// The number of tiles is rounded up, and what lies outside of the matrices counts as zero.
// warpglass check examples/notes_defects/matmul_remainder_fixed.cu:multiply --grid 3x3 --block 8x8
//     --arg all:f4[20,20]:rand --arg all:f4[20,20]:rand --arg out:f4[20,20] --arg i4=20
constexpr int TILE = 8;
extern "C" __global__ void multiply(const float *a, const float *b, float *c, int width) {
    __shared__ float as[TILE][TILE], bs[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * TILE + ty, column = blockIdx.x * TILE + tx;
    float sum = 0;
    for (int m = 0; m < (width + TILE - 1) / TILE; m++) {
        int i = m * TILE + tx, j = m * TILE + ty;
        as[ty][tx] = row < width && i < width ? a[row * width + i] : 0;
        bs[ty][tx] = column < width && j < width ? b[j * width + column] : 0;
        __syncthreads();
        for (int k = 0; k < TILE; k++) sum += as[ty][k] * bs[k][tx];
        __syncthreads();
    }
    if (row < width && column < width) c[row * width + column] = sum;
}
