// Layers of neural networks.

__inline__ __device__ float warp_sum(float x) {
  for (int d = 16; d > 0; d >>= 1) x += __shfl_xor_sync(0xffffffffu, x, d);
  return x;
}

// A row a block: mean and variance by shuffles, then scale and shift.
extern "C" __global__ void layernorm(const float *in, const float *gamma, const float *beta, float *out, float eps,
                                     int n) {
  __shared__ float part[4];
  int t = threadIdx.x, warp = t / 32, lane = t % 32;
  const float *row = in + blockIdx.x * n;
  float sum = 0;
  for (int i = t; i < n; i += 128) sum += row[i];
  sum = warp_sum(sum);
  if (lane == 0) part[warp] = sum;
  __syncthreads();
  float mean = (part[0] + part[1] + part[2] + part[3]) / n;
  __syncthreads();
  float square = 0;
  for (int i = t; i < n; i += 128) {
    float d = row[i] - mean;
    square += d * d;
  }
  square = warp_sum(square);
  if (lane == 0) part[warp] = square;
  __syncthreads();
  float scale = rsqrtf((part[0] + part[1] + part[2] + part[3]) / n + eps);
  for (int i = t; i < n; i += 128) out[blockIdx.x * n + i] = (row[i] - mean) * scale * gamma[i] + beta[i];
}

// Direct convolution 3 x 3 with padding, bias and ReLU; channels of the result along the grid's y.
extern "C" __global__ void conv2d_direct(const float *in, const float *weights, const float *bias, float *out,
                                         int channels, int height, int width) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int down = height / blockDim.y;
  int o = blockIdx.y / down, y = blockIdx.y % down * blockDim.y + threadIdx.y;
  if (x >= width) return;
  float sum = bias[o];
  for (int c = 0; c < channels; c++)
    for (int ky = 0; ky < 3; ky++) {
      int iy = y + ky - 1;
      if (iy < 0 || iy >= height) continue;
      for (int kx = 0; kx < 3; kx++) {
        int ix = x + kx - 1;
        if (ix < 0 || ix >= width) continue;
        sum += in[(c * height + iy) * width + ix] * weights[((o * channels + c) * 3 + ky) * 3 + kx];
      }
    }
  out[(o * height + y) * width + x] = fmaxf(sum, 0.0f);
}

// Depthwise convolution 5 x 5 on tiles of 16 x 16 in shared memory, a channel a layer of the grid's y.
extern "C" __global__ void depthwise_tile(const float *in, const float *filters, float *out, int height, int width) {
  __shared__ float tile[20][20];
  __shared__ float filter[25];
  int tx = threadIdx.x, ty = threadIdx.y, t = ty * 16 + tx;
  int down = height / 16, c = blockIdx.y / down;
  int x0 = blockIdx.x * 16, y0 = blockIdx.y % down * 16;
  const float *picture = in + c * height * width;
  if (t < 25) filter[t] = filters[c * 25 + t];
  for (int s = t; s < 400; s += 256) {
    int x = x0 + s % 20 - 2, y = y0 + s / 20 - 2;
    tile[s / 20][s % 20] = x >= 0 && x < width && y >= 0 && y < height ? picture[y * width + x] : 0.0f;
  }
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int ky = 0; ky < 5; ky++)
#pragma unroll
    for (int kx = 0; kx < 5; kx++) sum += tile[ty + ky][tx + kx] * filter[ky * 5 + kx];
  out[(c * height + y0 + ty) * width + x0 + tx] = sum;
}

#define HEAD 32
#define KEYS 32

// Attention with the softmax computed on the way: a query a thread, tiles of keys and values in shared memory.
extern "C" __global__ void attention_online(const float *q, const float *k, const float *v, float *out, float scale,
                                            int length) {
  __shared__ float keys[KEYS][HEAD];
  __shared__ float values[KEYS][HEAD];
  int t = threadIdx.x, base = blockIdx.y * length * HEAD;
  int query = blockIdx.x * blockDim.x + t;
  float own[HEAD], acc[HEAD];
#pragma unroll
  for (int d = 0; d < HEAD; d++) {
    own[d] = q[base + query * HEAD + d] * scale;
    acc[d] = 0.0f;
  }
  float most = -1e30f, total = 0.0f;
  for (int first = 0; first < length; first += KEYS) {
    for (int s = t; s < KEYS * HEAD; s += blockDim.x) {
      keys[s / HEAD][s % HEAD] = k[base + first * HEAD + s];
      values[s / HEAD][s % HEAD] = v[base + first * HEAD + s];
    }
    __syncthreads();
    for (int j = 0; j < KEYS; j++) {
      float score = 0.0f;
#pragma unroll
      for (int d = 0; d < HEAD; d++) score += own[d] * keys[j][d];
      float high = fmaxf(most, score);
      float shrink = expf(most - high), weight = expf(score - high);
      total = total * shrink + weight;
#pragma unroll
      for (int d = 0; d < HEAD; d++) acc[d] = acc[d] * shrink + weight * values[j][d];
      most = high;
    }
    __syncthreads();
  }
#pragma unroll
  for (int d = 0; d < HEAD; d++) out[base + query * HEAD + d] = acc[d] / total;
}

// Cross entropy and its gradient, a row a thread.
extern "C" __global__ void cross_entropy(const float *logits, const int *labels, float *loss, float *gradient,
                                         int classes, int rows) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const float *x = logits + row * classes;
  float most = x[0], sum = 0.0f;
  for (int c = 1; c < classes; c++) most = fmaxf(most, x[c]);
  for (int c = 0; c < classes; c++) sum += expf(x[c] - most);
  int label = labels[row];
  loss[row] = logf(sum) + most - x[label];
  for (int c = 0; c < classes; c++) {
    float p = expf(x[c] - most) / sum;
    gradient[row * classes + c] = (p - (c == label ? 1.0f : 0.0f)) / rows;
  }
}

// The greatest k of a row of 1024, a block a row: k times the greatest of what is left.
extern "C" __global__ void topk_rows(const float *in, float *best, int *where, int k) {
  __shared__ float row[1024];
  __shared__ float value[128];
  __shared__ int place[128];
  int t = threadIdx.x;
  for (int i = t; i < 1024; i += 128) row[i] = in[blockIdx.x * 1024 + i];
  __syncthreads();
  for (int round = 0; round < k; round++) {
    float most = -1e30f;
    int at = 0;
    for (int i = t; i < 1024; i += 128)
      if (row[i] > most) {
        most = row[i];
        at = i;
      }
    value[t] = most;
    place[t] = at;
    __syncthreads();
    for (int d = 64; d > 0; d >>= 1) {
      if (t < d && value[t + d] > value[t]) {
        value[t] = value[t + d];
        place[t] = place[t + d];
      }
      __syncthreads();
    }
    if (t == 0) {
      best[blockIdx.x * k + round] = value[0];
      where[blockIdx.x * k + round] = place[0];
      row[place[0]] = -1e30f;
    }
    __syncthreads();
  }
}

// Rows to signed bytes, each by its greatest magnitude.
extern "C" __global__ void quantise_rows(const float *in, signed char *out, float *scales, int n) {
  __shared__ float part[256];
  int t = threadIdx.x;
  const float *row = in + blockIdx.x * n;
  float most = 0.0f;
  for (int i = t; i < n; i += 256) most = fmaxf(most, fabsf(row[i]));
  part[t] = most;
  __syncthreads();
  for (int d = 128; d > 0; d >>= 1) {
    if (t < d) part[t] = fmaxf(part[t], part[t + d]);
    __syncthreads();
  }
  float scale = part[0] / 127.0f;
  if (t == 0) scales[blockIdx.x] = scale;
  for (int i = t; i < n; i += 256) {
    float level = rintf(row[i] / scale);
    out[blockIdx.x * n + i] = (signed char)fminf(fmaxf(level, -127.0f), 127.0f);
  }
}

__device__ float gelu(float x) { return 0.5f * x * (1.0f + tanhf(0.79788456f * (x + 0.044715f * x * x * x))); }

// Bias and GELU, four elements a thread.
extern "C" __global__ void gelu_bias(const float4 *in, const float4 *bias, float4 *out, int quads, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 x = in[i], b = bias[i % quads];
  out[i] = make_float4(gelu(x.x + b.x), gelu(x.y + b.y), gelu(x.z + b.z), gelu(x.w + b.w));
}
