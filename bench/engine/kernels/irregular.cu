// Lanes that go their own ways: loops of different lengths, rows of different lengths, local arrays, calls.

extern "C" __global__ void collatz(int *steps, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned long long x = i + 1;
  int count = 0;
  while (x != 1) {
    x = x % 2 ? 3 * x + 1 : x / 2;
    count++;
  }
  steps[i] = count;
}

extern "C" __global__ void mandelbrot(int *out, int side, int limit) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
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

// A sparse matrix, in compressed rows, by a vector: one thread for each row.
extern "C" __global__ void spmv(float *y, const int *starts, const int *columns, const float *values,
                                const float *x, int rows) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int k = starts[row]; k < starts[row + 1]; k++) sum += values[k] * x[columns[k]];
  y[row] = sum;
}

// The median of nine neighbours, by insertion into an array of the thread's own.
extern "C" __global__ void median9(float *out, const float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
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

__device__ __noinline__ float cube_root(float a) {
  float x = a;
  for (int k = 0; k < 12; k++) x = (2 * x + a / (x * x)) / 3;
  return x;
}

extern "C" __global__ void cube_roots(float *out, const float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = cube_root(x[i]) + cube_root(x[i] + 1);
}
