// Kernels that walk through memory: contiguous, strided, by vectors, by two-dimensional index.

extern "C" __global__ void vector_add(float *out, const float *x, const float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] + y[i];
}

extern "C" __global__ void grid_stride_add(float *out, const float *x, const float *y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    out[i] = x[i] + y[i];
}

extern "C" __global__ void saxpy_vec4(float4 *out, const float4 *x, const float4 *y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 u = x[i], v = y[i];
  out[i] = make_float4(a * u.x + v.x, a * u.y + v.y, a * u.z + v.z, a * u.w + v.w);
}

// Points as triples: every lane reads three numbers that lie three apart from the next lane's.
extern "C" __global__ void squared_length(float *out, const float *points, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = points[3 * i], y = points[3 * i + 1], z = points[3 * i + 2];
  out[i] = x * x + y * y + z * z;
}

extern "C" __global__ void matrix_add(float *out, const float *x, const float *y, int rows, int columns) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < rows && column < columns) {
    int i = row * columns + column;
    out[i] = x[i] + y[i];
  }
}

// Row and column of a linear index by a divisor that only the launch knows.
extern "C" __global__ void unravel(int *out, int columns, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = (i / columns) * 7 + i % columns;
}

extern "C" __global__ void transpose(float *out, const float *in, int n) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8) tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8) out[(y + k) * n + x] = tile[threadIdx.x][threadIdx.y + k];
}

extern "C" __global__ void gather(float *out, const float *x, const int *index, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[index[i]];
}
