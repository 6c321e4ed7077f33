// Tiles at the edge reach over the matrices: a tile must be filled up with zeros, not with what lies behind.
// launch: grid=2,2 block=16,16 args=f4[20,20]:rand,f4[20,20]:rand,out:f4[20,20],i4=20
extern "C" __global__ void matmul_guard(const float *a, const float *b, float *c, int n) {
    __shared__ float as[16][16], bs[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    int column = blockIdx.x * 16 + x, row = blockIdx.y * 16 + y;
    float sum = 0;
    for (int m = 0; m < n; m += 16) {
        as[y][x] = row < n && (BUGGY || m + x < n) ? a[n * row + m + x] : 0;  // BUG: out-of-bounds
        bs[y][x] = column < n && m + y < n ? b[n * (m + y) + column] : 0;
        __syncthreads();
        for (int k = 0; k < 16; k++) sum += as[y][k] * bs[k][x];
        __syncthreads();
    }
    if (row < n && column < n) c[n * row + column] = sum;
}
