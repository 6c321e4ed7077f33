// The second operand's tile is loaded with the indices of the first, so half of it stays unset.
// launch: grid=2,2 block=16,8 args=f4[1024]:rand,f4[1024]:rand,f4[1024]
extern "C" __global__ void matmul_wrong_tile(const float *a, const float *b, float *c) {
    __shared__ float as[16][16], bs[16][16];
    const int n = 32;
    int tx = threadIdx.x, ty = threadIdx.y, col = blockIdx.x * 16 + tx;
    float sum[2] = {0, 0};
    for (int k = 0; k < n; k += 16) {
        for (int h = 0; h < 2; h++) {
            as[ty + 8 * h][tx] = a[(blockIdx.y * 16 + ty + 8 * h) * n + k + tx];
            bs[ty + (BUGGY ? 0 : 8 * h)][tx] = b[(k + ty + 8 * h) * n + col];
        }
        __syncthreads();
        for (int h = 0; h < 2; h++)
            for (int j = 0; j < 16; j++) sum[h] += as[ty + 8 * h][j] * bs[j][tx];  // BUG: uninitialised-read
        __syncthreads();
    }
    for (int h = 0; h < 2; h++) c[(blockIdx.y * 16 + ty + 8 * h) * n + col] = sum[h];
}
