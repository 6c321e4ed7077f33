// The kernels of streams.cu in OpenCL C.

__kernel void vector_add(__global float *out, __global const float *x, __global const float *y, int n) {
  int i = get_global_id(0);
  if (i < n) out[i] = x[i] + y[i];
}

__kernel void grid_stride_add(__global float *out, __global const float *x, __global const float *y, int n) {
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) out[i] = x[i] + y[i];
}

__kernel void saxpy_vec4(__global float4 *out, __global const float4 *x, __global const float4 *y, float a,
                         int n) {
  int i = get_global_id(0);
  if (i < n) out[i] = a * x[i] + y[i];
}

__kernel void squared_length(__global float *out, __global const float *points, int n) {
  int i = get_global_id(0);
  if (i >= n) return;
  float x = points[3 * i], y = points[3 * i + 1], z = points[3 * i + 2];
  out[i] = x * x + y * y + z * z;
}

__kernel void matrix_add(__global float *out, __global const float *x, __global const float *y, int rows,
                         int columns) {
  int column = get_global_id(0), row = get_global_id(1);
  if (row < rows && column < columns) {
    int i = row * columns + column;
    out[i] = x[i] + y[i];
  }
}

__kernel void unravel(__global int *out, int columns, int n) {
  int i = get_global_id(0);
  if (i < n) out[i] = (i / columns) * 7 + i % columns;
}

__kernel void transpose(__global float *out, __global const float *in, int n) {
  __local float tile[32][33];
  int tx = get_local_id(0), ty = get_local_id(1);
  int x = get_group_id(0) * 32 + tx, y = get_group_id(1) * 32 + ty;
  for (int k = 0; k < 32; k += 8) tile[ty + k][tx] = in[(y + k) * n + x];
  barrier(CLK_LOCAL_MEM_FENCE);
  x = get_group_id(1) * 32 + tx;
  y = get_group_id(0) * 32 + ty;
  for (int k = 0; k < 32; k += 8) out[(y + k) * n + x] = tile[tx][ty + k];
}

__kernel void gather(__global float *out, __global const float *x, __global const int *index, int n) {
  int i = get_global_id(0);
  if (i < n) out[i] = x[index[i]];
}
