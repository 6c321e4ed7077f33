// Tiled product: the barrier after the sum is missing, so the next tile is loaded over one still in use.
// launch: grid=2,2 block=8,8 args=f4[16,16]:rand,f4[16,16]:rand,out:f4[16,16],i4=16
extern "C" __global__ void matmul_missing_second(const float *a, const float *b, float *c, int n) {
    __shared__ float as[8][8], bs[8][8];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 8 + ty, col = blockIdx.x * 8 + tx;
    float sum = 0;
    for (int m = 0; m < n / 8; m++) {
        as[ty][tx] = a[row * n + m * 8 + tx];  // OTHER
        bs[ty][tx] = b[(m * 8 + ty) * n + col];  // BUG: shared-race
        __syncthreads();
        for (int k = 0; k < 8; k++) sum += as[ty][k] * bs[k][tx];  // OTHER
        if (!BUGGY) __syncthreads();
    }
    c[row * n + col] = sum;
}
