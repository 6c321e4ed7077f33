// The kernels of filters.cu in OpenCL C.

__kernel void conv1d(__global float *out, __global const float *x, __constant float *taps, int n) {
  int i = get_global_id(0);
  if (i >= n) return;
  float sum = 0;
  for (int k = 0; k < 9; k++) {
    int at = i + k - 4;
    if (at >= 0 && at < n) sum += x[at] * taps[k];
  }
  out[i] = sum;
}

__kernel void conv2d(__global float *out, __global const float *x, __constant float *taps, int rows,
                     int columns) {
  int column = get_global_id(0), row = get_global_id(1);
  if (row >= rows || column >= columns) return;
  float sum = 0;
  for (int u = -2; u <= 2; u++)
    for (int v = -2; v <= 2; v++) {
      int r = row + u, c = column + v;
      if (r >= 0 && r < rows && c >= 0 && c < columns)
        sum += x[r * columns + c] * taps[(u + 2) * 5 + v + 2];
    }
  out[row * columns + column] = sum;
}

__kernel void stencil(__global float *out, __global const float *x, int rows, int columns) {
  int column = get_global_id(0), row = get_global_id(1);
  if (row < 1 || row >= rows - 1 || column < 1 || column >= columns - 1) return;
  int i = row * columns + column;
  out[i] = x[i] + 0.2f * (x[i - 1] + x[i + 1] + x[i - columns] + x[i + columns] - 4 * x[i]);
}

__kernel void blur(__global uchar *out, __global const uchar *x, int rows, int columns) {
  int column = get_global_id(0), row = get_global_id(1);
  if (row >= rows || column >= columns) return;
  for (int channel = 0; channel < 3; channel++) {
    int sum = 0;
    for (int u = -1; u <= 1; u++)
      for (int v = -1; v <= 1; v++) {
        int r = min(max(row + u, 0), rows - 1), c = min(max(column + v, 0), columns - 1);
        sum += x[(r * columns + c) * 3 + channel];
      }
    out[(row * columns + column) * 3 + channel] = sum / 9;
  }
}
