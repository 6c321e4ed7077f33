// Sums: each block leaves the sum of its elements in partial[blockIdx.x].

extern "C" __global__ void reduce_neighbored(double *x, double *partial, int n) {
  int t = threadIdx.x;
  double *part = x + blockIdx.x * blockDim.x;
  if (blockIdx.x * blockDim.x + t >= n) return;
  for (int s = 1; s < blockDim.x; s *= 2) {
    if (t % (2 * s) == 0) part[t] += part[t + s];
    __syncthreads();
  }
  if (t == 0) partial[blockIdx.x] = part[0];
}

extern "C" __global__ void reduce_interleaved(double *x, double *partial, int n) {
  int t = threadIdx.x;
  double *part = x + blockIdx.x * blockDim.x;
  if (blockIdx.x * blockDim.x + t >= n) return;
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (t < s) part[t] += part[t + s];
    __syncthreads();
  }
  if (t == 0) partial[blockIdx.x] = part[0];
}

extern "C" __global__ void reduce_unroll8(double *x, double *partial, int n) {
  int t = threadIdx.x, i = blockIdx.x * blockDim.x * 8 + t;
  double *part = x + blockIdx.x * blockDim.x * 8;
  if (i + 7 * blockDim.x < n) {
    double sum = x[i];
    for (int k = 1; k < 8; k++) sum += x[i + k * blockDim.x];
    x[i] = sum;
  }
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (t < s) part[t] += part[t + s];
    __syncthreads();
  }
  if (t == 0) partial[blockIdx.x] = part[0];
}

extern "C" __global__ void reduce_shared_modulo(const double *x, double *partial, int n) {
  __shared__ double sums[512];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  sums[t] = i < n ? x[i] : 0;
  __syncthreads();
  for (int s = 1; s < blockDim.x; s *= 2) {
    if (t % (2 * s) == 0) sums[t] += sums[t + s];
    __syncthreads();
  }
  if (t == 0) partial[blockIdx.x] = sums[0];
}

extern "C" __global__ void reduce_shared_strided(const double *x, double *partial, int n) {
  __shared__ double sums[512];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  sums[t] = i < n ? x[i] : 0;
  __syncthreads();
  for (int s = 1; s < blockDim.x; s *= 2) {
    int at = 2 * s * t;
    if (at < blockDim.x) sums[at] += sums[at + s];
    __syncthreads();
  }
  if (t == 0) partial[blockIdx.x] = sums[0];
}

extern "C" __global__ void reduce_shared_sequential(const double *x, double *partial, int n) {
  __shared__ double sums[512];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  sums[t] = i < n ? x[i] : 0;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (t < s) sums[t] += sums[t + s];
    __syncthreads();
  }
  if (t == 0) partial[blockIdx.x] = sums[0];
}

extern "C" __global__ void reduce_shuffle(const double *x, double *partial, int n) {
  __shared__ double sums[16];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  double sum = i < n ? x[i] : 0;
  for (int d = 16; d > 0; d >>= 1) sum += __shfl_down_sync(0xffffffff, sum, d);
  if (t % 32 == 0) sums[t / 32] = sum;
  __syncthreads();
  if (t < 32) {
    sum = t < 16 ? sums[t] : 0;
    for (int d = 8; d > 0; d >>= 1) sum += __shfl_down_sync(0xffffffff, sum, d);
    if (t == 0) partial[blockIdx.x] = sum;
  }
}

extern "C" __global__ void dot_product(const float *x, const float *y, float *partial, int n) {
  __shared__ float sums[256];
  int t = threadIdx.x;
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) sum += x[i] * y[i];
  sums[t] = sum;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (t < s) sums[t] += sums[t + s];
    __syncthreads();
  }
  if (t == 0) partial[blockIdx.x] = sums[0];
}
