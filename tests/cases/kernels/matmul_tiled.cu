// Both tiles must be complete before products are summed: the barrier after loading is missing.
// launch: grid=2,2 block=16,16 args=f4[32,32]:rand,f4[32,32]:rand,out:f4[32,32]
extern "C" __global__ void matmul_tiled(const float *a, const float *b, float *c) {
    __shared__ float as[16][16], bs[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    int column = blockIdx.x * 16 + x, row = blockIdx.y * 16 + y;
    float sum = 0;
    for (int m = 0; m < 32; m += 16) {
        as[y][x] = a[32 * row + m + x];  // OTHER
        bs[y][x] = b[32 * (m + y) + column];  // OTHER
        if (BUGGY) __syncwarp();
        else __syncthreads();
        for (int k = 0; k < 16; k++) sum += as[y][k] * bs[k][x];  // BUG: shared-race
        __syncthreads();
    }
    c[32 * row + column] = sum;
}
