// Kernels in which the threads of a block work together in shared memory.

// Odd-even transposition sort: each block sorts its 1024 elements.
extern "C" __global__ void odd_even_sort(int *x) {
  __shared__ int part[1024];
  int t = threadIdx.x, first = blockIdx.x * 1024;
  part[t] = x[first + t];
  __syncthreads();
  for (int phase = 0; phase < 1024; phase++) {
    if (t % 2 == phase % 2 && t + 1 < 1024) {
      int a = part[t], b = part[t + 1];
      if (a > b) {
        part[t] = b;
        part[t + 1] = a;
      }
    }
    __syncthreads();
  }
  x[first + t] = part[t];
}

extern "C" __global__ void bitonic_sort(int *x) {
  __shared__ int part[1024];
  int t = threadIdx.x, first = blockIdx.x * 1024;
  part[t] = x[first + t];
  __syncthreads();
  for (int k = 2; k <= 1024; k *= 2)
    for (int j = k / 2; j > 0; j /= 2) {
      int other = t ^ j;
      if (other > t) {
        int a = part[t], b = part[other];
        if ((a > b) == ((t & k) == 0)) {
          part[t] = b;
          part[other] = a;
        }
      }
      __syncthreads();
    }
  x[first + t] = part[t];
}

// Inclusive prefix sums of each block's 512 elements, by doubling distances.
extern "C" __global__ void scan(float *out, const float *x) {
  __shared__ float sums[512];
  int t = threadIdx.x, i = blockIdx.x * 512 + t;
  sums[t] = x[i];
  __syncthreads();
  for (int d = 1; d < 512; d *= 2) {
    float left = t >= d ? sums[t - d] : 0;
    __syncthreads();
    sums[t] += left;
    __syncthreads();
  }
  out[i] = sums[t];
}

extern "C" __global__ void histogram_shared(const unsigned char *x, unsigned *bins, int n) {
  __shared__ unsigned part[256];
  int t = threadIdx.x;
  part[t] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) atomicAdd(&part[x[i]], 1u);
  __syncthreads();
  atomicAdd(&bins[t], part[t]);
}

extern "C" __global__ void histogram_global(const unsigned char *x, unsigned *bins, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&bins[x[i]], 1u);
}

// Every thread adds to one counter.
extern "C" __global__ void count_positive(const float *x, unsigned *count, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] > 0.5f) atomicAdd(count, 1u);
}
