// The kernels of linear.cu in OpenCL C.

// y = alpha A x + beta B x, a row a work-item, sums kept in memory.
__kernel void gesummv(__global const float *a, __global const float *b, __global const float *x,
                      __global float *y, __global float *tmp, float alpha, float beta, int n) {
  int i = get_global_id(0);
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

// C = alpha A B + beta C: tiles of 64 x 64 in local memory, 4 x 4 elements a work-item in registers.
__kernel void gemm_registers(__global const float *restrict a, __global const float *restrict b,
                             __global float *restrict c, float alpha, float beta, int n) {
  __local float as[DEPTH][TILE];
  __local float bs[DEPTH][TILE];
  int tx = get_local_id(0), ty = get_local_id(1), t = ty * 16 + tx;
  int row0 = get_group_id(1) * TILE, col0 = get_group_id(0) * TILE;
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
    barrier(CLK_LOCAL_MEM_FENCE);
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
    barrier(CLK_LOCAL_MEM_FENCE);
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

// L X = B in place: each work-item solves for one column of B; L is in local memory.
__kernel void trsm_columns(__global const float *l, __global float *b, int columns) {
  __local float tri[ORDER * ORDER];
  for (int s = get_local_id(0); s < ORDER * ORDER; s += get_local_size(0)) tri[s] = l[s];
  barrier(CLK_LOCAL_MEM_FENCE);
  int column = get_global_id(0);
  if (column >= columns) return;
  for (int i = 0; i < ORDER; i++) {
    float sum = b[i * columns + column];
    for (int j = 0; j < i; j++) sum -= tri[i * ORDER + j] * b[j * columns + column];
    b[i * columns + column] = sum / tri[i * ORDER + i];
  }
}

#define SMALL 32

// Cholesky factors of many 32 x 32 matrices, a work-group each, right-looking in local memory.
__kernel void cholesky_batch(__global const float *in, __global float *out) {
  __local float m[SMALL][SMALL + 1];
  int tx = get_local_id(0), ty = get_local_id(1), t = ty * 16 + tx;
  __global const float *from = in + get_group_id(0) * SMALL * SMALL;
  __global float *to = out + get_group_id(0) * SMALL * SMALL;
  for (int s = t; s < SMALL * SMALL; s += 256) m[s / SMALL][s % SMALL] = from[s];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k = 0; k < SMALL; k++) {
    if (t == 0) m[k][k] = sqrt(m[k][k]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t > k && t < SMALL) m[t][k] /= m[k][k];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = k + 1 + ty; i < SMALL; i += 16)
      for (int j = k + 1 + tx; j <= i; j += 16) m[i][j] -= m[i][k] * m[j][k];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int s = t; s < SMALL * SMALL; s += 256)
    to[s] = s % SMALL <= s / SMALL ? m[s / SMALL][s % SMALL] : 0.0f;
}

// Product of signed bytes with 32-bit sums, four bytes at a time; B is given transposed.
__kernel void int8_gemm(__global const char4 *a, __global const char4 *b, __global int *c, int n, int quads) {
  __local char4 as[16][16];
  __local char4 bs[16][17];
  int tx = get_local_id(0), ty = get_local_id(1);
  int row = get_group_id(1) * 16 + ty, column = get_group_id(0) * 16 + tx;
  int sum = 0;
  for (int q = 0; q < quads; q += 16) {
    as[ty][tx] = a[row * quads + q + tx];
    bs[ty][tx] = b[(get_group_id(0) * 16 + ty) * quads + q + tx];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 16; k++) {
      char4 u = as[ty][k], v = bs[tx][k];
      sum += u.x * v.x + u.y * v.y + u.z * v.z + u.w * v.w;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * n + column] = sum;
}

// CSR times a vector: sixteen work-items a row, summed up in local memory.
__kernel void csr_vector(__global const int *starts, __global const int *columns, __global const float *values,
                         __global const float *x, __global float *y, int rows) {
  __local float part[128];
  int t = get_local_id(0), lane = t & 15, row = get_global_id(0) >> 4;
  float sum = 0;
  if (row < rows)
    for (int k = starts[row] + lane; k < starts[row + 1]; k += 16) sum += values[k] * x[columns[k]];
  part[t] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int d = 8; d > 0; d >>= 1) {
    if (lane < d) part[t] += part[t + d];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (lane == 0 && row < rows) y[row] = part[t];
}

// Sparse blocks of 4 x 4 times a vector, a row a work-item.
__kernel void bsr_spmv(__global const int *starts, __global const int *columns, __global const float *values,
                       __global const float *x, __global float *y, int rows) {
  int row = get_global_id(0);
  if (row >= rows) return;
  int group = row / 4, r = row % 4;
  float sum = 0;
  for (int k = starts[group]; k < starts[group + 1]; k++) {
    __global const float *v = values + 16 * k + 4 * r;
    __global const float *p = x + 4 * columns[k];
    sum += v[0] * p[0] + v[1] * p[1] + v[2] * p[2] + v[3] * p[3];
  }
  y[row] = sum;
}
