// The kernels of irregular.cu in OpenCL C.

__kernel void collatz(__global int *steps, int n) {
  int i = get_global_id(0);
  if (i >= n) return;
  ulong x = i + 1;
  int count = 0;
  while (x != 1) {
    x = x % 2 ? 3 * x + 1 : x / 2;
    count++;
  }
  steps[i] = count;
}

__kernel void mandelbrot(__global int *out, int side, int limit) {
  int column = get_global_id(0), row = get_global_id(1);
  if (row >= side || column >= side) return;
  double a = -2.0 + 2.5 * column / side, b = -1.25 + 2.5 * row / side, x = 0, y = 0;
  int k = 0;
  while (k < limit && x * x + y * y <= 4) {
    double next = x * x - y * y + a;
    y = 2 * x * y + b;
    x = next;
    k++;
  }
  out[row * side + column] = k;
}

__kernel void spmv(__global float *y, __global const int *starts, __global const int *columns,
                   __global const float *values, __global const float *x, int rows) {
  int row = get_global_id(0);
  if (row >= rows) return;
  float sum = 0;
  for (int k = starts[row]; k < starts[row + 1]; k++) sum += values[k] * x[columns[k]];
  y[row] = sum;
}

__kernel void median9(__global float *out, __global const float *x, int n) {
  int i = get_global_id(0);
  if (i >= n) return;
  float sorted[9];
  for (int k = 0; k < 9; k++) {
    float one = x[i + k];
    int at = k;
    while (at > 0 && sorted[at - 1] > one) {
      sorted[at] = sorted[at - 1];
      at--;
    }
    sorted[at] = one;
  }
  out[i] = sorted[4];
}

float cube_root(float a) {
  float x = a;
  for (int k = 0; k < 12; k++) x = (2 * x + a / (x * x)) / 3;
  return x;
}

__kernel void cube_roots(__global float *out, __global const float *x, int n) {
  int i = get_global_id(0);
  if (i < n) out[i] = cube_root(x[i]) + cube_root(x[i] + 1);
}
