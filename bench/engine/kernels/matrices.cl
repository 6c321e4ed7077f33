// The kernels of matrices.cu in OpenCL C.

__kernel void matmul_naive(__global float *c, __global const float *a, __global const float *b, int n) {
  int column = get_global_id(0), row = get_global_id(1);
  if (row >= n || column >= n) return;
  float sum = 0;
  for (int k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}

__kernel void matmul_tiled(__global float *c, __global const float *a, __global const float *b, int n) {
  __local float as[16][16], bs[16][16];
  int tx = get_local_id(0), ty = get_local_id(1), column = get_global_id(0), row = get_global_id(1);
  float sum = 0;
  for (int m = 0; m < n; m += 16) {
    as[ty][tx] = a[row * n + m + tx];
    bs[ty][tx] = b[(m + ty) * n + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 16; k++) sum += as[ty][k] * bs[k][tx];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * n + column] = sum;
}

__kernel void matmul_tiled_wide(__global float *c, __global const float *a, __global const float *b, int n) {
  __local float as[16][32], bs[32][32];
  int tx = get_local_id(0), ty = get_local_id(1), column = get_global_id(0), row = get_global_id(1);
  float sum = 0;
  for (int m = 0; m < n; m += 32) {
    as[ty][tx] = a[row * n + m + tx];
    bs[ty][tx] = b[(m + ty) * n + column];
    bs[ty + 16][tx] = b[(m + ty + 16) * n + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 32; k++) sum += as[ty][k] * bs[k][tx];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * n + column] = sum;
}
