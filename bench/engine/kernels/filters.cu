// Each element of the result from its neighbourhood.

extern "C" __global__ void conv1d(float *out, const float *x, const float *taps, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int k = 0; k < 9; k++) {
    int at = i + k - 4;
    if (at >= 0 && at < n) sum += x[at] * taps[k];
  }
  out[i] = sum;
}

extern "C" __global__ void conv2d(float *out, const float *x, const float *taps, int rows, int columns) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
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

extern "C" __global__ void stencil(float *out, const float *x, int rows, int columns) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < 1 || row >= rows - 1 || column < 1 || column >= columns - 1) return;
  int i = row * columns + column;
  out[i] = x[i] + 0.2f * (x[i - 1] + x[i + 1] + x[i - columns] + x[i + columns] - 4 * x[i]);
}

// The mean of 3 x 3 pixels, for the three bytes of each pixel; the image's edges repeat.
extern "C" __global__ void blur(unsigned char *out, const unsigned char *x, int rows, int columns) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
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
