// Dense and sparse linear algebra.

// y = alpha A x + beta B x, a row a thread, sums kept in memory.
extern "C" __global__ void gesummv(const float *a, const float *b, const float *x, float *y, float *tmp,
                                   float alpha, float beta, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    for (int j = 0; j < n; j++) {
      tmp[i] += a[i * n + j] * x[j];
      y[i] += b[i * n + j] * x[j];
    }
    y[i] = alpha * tmp[i] + beta * y[i];
  }
}

#define TILE 64
#define DEPTH 16

// C = alpha A B + beta C: tiles of 64 x 64 in shared memory, 4 x 4 elements a thread in registers.
extern "C" __global__ void gemm_registers(const float *__restrict__ a, const float *__restrict__ b,
                                          float *__restrict__ c, float alpha, float beta, int n) {
  __shared__ float as[DEPTH][TILE];
  __shared__ float bs[DEPTH][TILE];
  int tx = threadIdx.x, ty = threadIdx.y, t = ty * 16 + tx;
  int row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;
  float acc[4][4];
#pragma unroll
  for (int u = 0; u < 4; u++)
#pragma unroll
    for (int v = 0; v < 4; v++) acc[u][v] = 0.0f;
  for (int k0 = 0; k0 < n; k0 += DEPTH) {
    for (int s = t; s < TILE * DEPTH; s += 256) {
      as[s % DEPTH][s / DEPTH] = a[(row0 + s / DEPTH) * n + k0 + s % DEPTH];
      bs[s / TILE][s % TILE] = b[(k0 + s / TILE) * n + col0 + s % TILE];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < DEPTH; k++) {
      float ra[4], rb[4];
#pragma unroll
      for (int u = 0; u < 4; u++) {
        ra[u] = as[k][ty * 4 + u];
        rb[u] = bs[k][tx + 16 * u];
      }
#pragma unroll
      for (int u = 0; u < 4; u++)
#pragma unroll
        for (int v = 0; v < 4; v++) acc[u][v] += ra[u] * rb[v];
    }
    __syncthreads();
  }
#pragma unroll
  for (int u = 0; u < 4; u++)
#pragma unroll
    for (int v = 0; v < 4; v++) {
      int at = (row0 + ty * 4 + u) * n + col0 + tx + 16 * v;
      c[at] = alpha * acc[u][v] + beta * c[at];
    }
}

#define ORDER 64

// L X = B in place: each thread solves for one column of B; L is in shared memory.
extern "C" __global__ void trsm_columns(const float *l, float *b, int columns) {
  __shared__ float tri[ORDER * ORDER];
  for (int s = threadIdx.x; s < ORDER * ORDER; s += blockDim.x) tri[s] = l[s];
  __syncthreads();
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= columns) return;
  for (int i = 0; i < ORDER; i++) {
    float sum = b[i * columns + column];
    for (int j = 0; j < i; j++) sum -= tri[i * ORDER + j] * b[j * columns + column];
    b[i * columns + column] = sum / tri[i * ORDER + i];
  }
}

#define SMALL 32

// Cholesky factors of many 32 x 32 matrices, a block each, right-looking in shared memory.
extern "C" __global__ void cholesky_batch(const float *in, float *out) {
  __shared__ float m[SMALL][SMALL + 1];
  int tx = threadIdx.x, ty = threadIdx.y, t = ty * 16 + tx;
  const float *from = in + blockIdx.x * SMALL * SMALL;
  float *to = out + blockIdx.x * SMALL * SMALL;
  for (int s = t; s < SMALL * SMALL; s += 256) m[s / SMALL][s % SMALL] = from[s];
  __syncthreads();
  for (int k = 0; k < SMALL; k++) {
    if (t == 0) m[k][k] = sqrtf(m[k][k]);
    __syncthreads();
    if (t > k && t < SMALL) m[t][k] /= m[k][k];
    __syncthreads();
    for (int i = k + 1 + ty; i < SMALL; i += 16)
      for (int j = k + 1 + tx; j <= i; j += 16) m[i][j] -= m[i][k] * m[j][k];
    __syncthreads();
  }
  for (int s = t; s < SMALL * SMALL; s += 256)
    to[s] = s % SMALL <= s / SMALL ? m[s / SMALL][s % SMALL] : 0.0f;
}

// Product of signed bytes with 32-bit sums, four bytes at a time; B is given transposed.
extern "C" __global__ void int8_gemm(const char4 *a, const char4 *b, int *c, int n, int quads) {
  __shared__ char4 as[16][16];
  __shared__ char4 bs[16][17];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx;
  int sum = 0;
  for (int q = 0; q < quads; q += 16) {
    as[ty][tx] = a[row * quads + q + tx];
    bs[ty][tx] = b[(blockIdx.x * 16 + ty) * quads + q + tx];
    __syncthreads();
    for (int k = 0; k < 16; k++) {
      char4 u = as[ty][k], v = bs[tx][k];
      sum += u.x * v.x + u.y * v.y + u.z * v.z + u.w * v.w;
    }
    __syncthreads();
  }
  c[row * n + column] = sum;
}

// CSR times a vector: sixteen threads a row, summed up in shared memory.
extern "C" __global__ void csr_vector(const int *starts, const int *columns, const float *values, const float *x,
                                      float *y, int rows) {
  __shared__ float part[128];
  int t = threadIdx.x, lane = t & 15, row = (blockIdx.x * blockDim.x + t) >> 4;
  float sum = 0;
  if (row < rows)
    for (int k = starts[row] + lane; k < starts[row + 1]; k += 16) sum += values[k] * x[columns[k]];
  part[t] = sum;
  __syncthreads();
  for (int d = 8; d > 0; d >>= 1) {
    if (lane < d) part[t] += part[t + d];
    __syncthreads();
  }
  if (lane == 0 && row < rows) y[row] = part[t];
}

// Sparse blocks of 4 x 4 times a vector, a row a thread.
extern "C" __global__ void bsr_spmv(const int *starts, const int *columns, const float *values, const float *x,
                                    float *y, int rows) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  int group = row / 4, r = row % 4;
  float sum = 0;
  for (int k = starts[group]; k < starts[group + 1]; k++) {
    const float *v = values + 16 * k + 4 * r;
    const float *p = x + 4 * columns[k];
    sum += v[0] * p[0] + v[1] * p[1] + v[2] * p[2] + v[3] * p[3];
  }
  y[row] = sum;
}
