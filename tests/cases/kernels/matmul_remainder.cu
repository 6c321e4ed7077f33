// The loop over tiles runs Width / TILE times, so the last columns and rows never count where TILE does not divide it.
// launch: grid=2,2 block=16,16 args=all:f4[20,20]:rand,all:f4[20,20]:rand,out:f4[20,20],i4=20
extern "C" __global__ void matmul_remainder(const float *a, const float *b, float *c, int n) {  // BUG: unread-input a b
    __shared__ float as[16][16], bs[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    int column = blockIdx.x * 16 + x, row = blockIdx.y * 16 + y;
    float sum = 0;
    for (int m = 0; m < (BUGGY ? n / 16 : (n + 15) / 16); m++) {
        as[y][x] = row < n && 16 * m + x < n ? a[n * row + 16 * m + x] : 0;
        bs[y][x] = column < n && 16 * m + y < n ? b[n * (16 * m + y) + column] : 0;
        __syncthreads();
        for (int k = 0; k < 16; k++) sum += as[y][k] * bs[k][x];
        __syncthreads();
    }
    if (row < n && column < n) c[n * row + column] = sum;
}
