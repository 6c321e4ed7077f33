// Products of square matrices, one thread for each element of the result.

extern "C" __global__ void matmul_naive(float *c, const float *a, const float *b, int n) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= n || column >= n) return;
  float sum = 0;
  for (int k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}

extern "C" __global__ void matmul_tiled(float *c, const float *a, const float *b, int n) {
  __shared__ float as[16][16], bs[16][16];
  int tx = threadIdx.x, ty = threadIdx.y, column = blockIdx.x * 16 + tx, row = blockIdx.y * 16 + ty;
  float sum = 0;
  for (int m = 0; m < n; m += 16) {
    as[ty][tx] = a[row * n + m + tx];
    bs[ty][tx] = b[(m + ty) * n + column];
    __syncthreads();
    for (int k = 0; k < 16; k++) sum += as[ty][k] * bs[k][tx];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

// Blocks of 32 x 16 threads: a tile of `b` is 32 x 32, loaded in two halves.
extern "C" __global__ void matmul_tiled_wide(float *c, const float *a, const float *b, int n) {
  __shared__ float as[16][32], bs[32][32];
  int tx = threadIdx.x, ty = threadIdx.y, column = blockIdx.x * 32 + tx, row = blockIdx.y * 16 + ty;
  float sum = 0;
  for (int m = 0; m < n; m += 32) {
    as[ty][tx] = a[row * n + m + tx];
    bs[ty][tx] = b[(m + ty) * n + column];
    bs[ty + 16][tx] = b[(m + ty + 16) * n + column];
    __syncthreads();
    for (int k = 0; k < 32; k++) sum += as[ty][k] * bs[k][tx];
    __syncthreads();
  }
  c[row * n + column] = sum;
}
