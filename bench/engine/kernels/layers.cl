// The kernels of layers.cu in OpenCL C.

// Local memory takes the place of shuffles.
float warp_sum(__local float *lanes, float x) {
  int t = get_local_id(0);
  for (int d = 16; d > 0; d >>= 1) {
    lanes[t] = x;
    barrier(CLK_LOCAL_MEM_FENCE);
    x += lanes[t ^ d];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  return x;
}

// A row a block: mean and variance by butterflies, then scale and shift.
__kernel void layernorm(__global const float *in, __global const float *gamma, __global const float *beta, __global float *out, float eps,
                                     int n) {
  __local float part[4];
  __local float lanes[128];
  int t = get_local_id(0), warp = t / 32, lane = t % 32;
  __global const float *row = in + get_group_id(0) * n;
  float sum = 0;
  for (int i = t; i < n; i += 128) sum += row[i];
  sum = warp_sum(lanes, sum);
  if (lane == 0) part[warp] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  float mean = (part[0] + part[1] + part[2] + part[3]) / n;
  barrier(CLK_LOCAL_MEM_FENCE);
  float square = 0;
  for (int i = t; i < n; i += 128) {
    float d = row[i] - mean;
    square += d * d;
  }
  square = warp_sum(lanes, square);
  if (lane == 0) part[warp] = square;
  barrier(CLK_LOCAL_MEM_FENCE);
  float scale = rsqrt((part[0] + part[1] + part[2] + part[3]) / n + eps);
  for (int i = t; i < n; i += 128) out[get_group_id(0) * n + i] = (row[i] - mean) * scale * gamma[i] + beta[i];
}

// Direct convolution 3 x 3 with padding, bias and ReLU; channels of the result along the grid's y.
__kernel void conv2d_direct(__global const float *in, __global const float *weights, __global const float *bias, __global float *out,
                                         int channels, int height, int width) {
  int x = get_global_id(0);
  int down = height / get_local_size(1);
  int o = get_group_id(1) / down, y = get_group_id(1) % down * get_local_size(1) + get_local_id(1);
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
  out[(o * height + y) * width + x] = fmax(sum, 0.0f);
}

// Depthwise convolution 5 x 5 on tiles of 16 x 16 in local memory, a channel a layer of the grid's y.
__kernel void depthwise_tile(__global const float *in, __global const float *filters, __global float *out, int height, int width) {
  __local float tile[20][20];
  __local float filter[25];
  int tx = get_local_id(0), ty = get_local_id(1), t = ty * 16 + tx;
  int down = height / 16, c = get_group_id(1) / down;
  int x0 = get_group_id(0) * 16, y0 = get_group_id(1) % down * 16;
  __global const float *picture = in + c * height * width;
  if (t < 25) filter[t] = filters[c * 25 + t];
  for (int s = t; s < 400; s += 256) {
    int x = x0 + s % 20 - 2, y = y0 + s / 20 - 2;
    tile[s / 20][s % 20] = x >= 0 && x < width && y >= 0 && y < height ? picture[y * width + x] : 0.0f;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  float sum = 0;
#pragma unroll
  for (int ky = 0; ky < 5; ky++)
#pragma unroll
    for (int kx = 0; kx < 5; kx++) sum += tile[ty + ky][tx + kx] * filter[ky * 5 + kx];
  out[(c * height + y0 + ty) * width + x0 + tx] = sum;
}

#define HEAD 32
#define KEYS 32

// Attention with the softmax computed on the way: a query a thread, tiles of keys and values in local memory.
__kernel void attention_online(__global const float *q, __global const float *k, __global const float *v, __global float *out, float scale,
                                            int length) {
  __local float keys[KEYS][HEAD];
  __local float values[KEYS][HEAD];
  int t = get_local_id(0), base = get_group_id(1) * length * HEAD;
  int query = get_group_id(0) * get_local_size(0) + t;
  float own[HEAD], acc[HEAD];
#pragma unroll
  for (int d = 0; d < HEAD; d++) {
    own[d] = q[base + query * HEAD + d] * scale;
    acc[d] = 0.0f;
  }
  float most = -1e30f, total = 0.0f;
  for (int first = 0; first < length; first += KEYS) {
    for (int s = t; s < KEYS * HEAD; s += get_local_size(0)) {
      keys[s / HEAD][s % HEAD] = k[base + first * HEAD + s];
      values[s / HEAD][s % HEAD] = v[base + first * HEAD + s];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = 0; j < KEYS; j++) {
      float score = 0.0f;
#pragma unroll
      for (int d = 0; d < HEAD; d++) score += own[d] * keys[j][d];
      float high = fmax(most, score);
      float shrink = exp(most - high), weight = exp(score - high);
      total = total * shrink + weight;
#pragma unroll
      for (int d = 0; d < HEAD; d++) acc[d] = acc[d] * shrink + weight * values[j][d];
      most = high;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
#pragma unroll
  for (int d = 0; d < HEAD; d++) out[base + query * HEAD + d] = acc[d] / total;
}

// Cross entropy and its gradient, a row a thread.
__kernel void cross_entropy(__global const float *logits, __global const int *labels, __global float *loss, __global float *gradient,
                                         int classes, int rows) {
  int row = get_global_id(0);
  if (row >= rows) return;
  __global const float *x = logits + row * classes;
  float most = x[0], sum = 0.0f;
  for (int c = 1; c < classes; c++) most = fmax(most, x[c]);
  for (int c = 0; c < classes; c++) sum += exp(x[c] - most);
  int label = labels[row];
  loss[row] = log(sum) + most - x[label];
  for (int c = 0; c < classes; c++) {
    float p = exp(x[c] - most) / sum;
    gradient[row * classes + c] = (p - (c == label ? 1.0f : 0.0f)) / rows;
  }
}

// The greatest k of a row of 1024, a block a row: k times the greatest of what is left.
__kernel void topk_rows(__global const float *in, __global float *best, __global int *where, int k) {
  __local float row[1024];
  __local float value[128];
  __local int place[128];
  int t = get_local_id(0);
  for (int i = t; i < 1024; i += 128) row[i] = in[get_group_id(0) * 1024 + i];
  barrier(CLK_LOCAL_MEM_FENCE);
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
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 64; d > 0; d >>= 1) {
      if (t < d && value[t + d] > value[t]) {
        value[t] = value[t + d];
        place[t] = place[t + d];
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (t == 0) {
      best[get_group_id(0) * k + round] = value[0];
      where[get_group_id(0) * k + round] = place[0];
      row[place[0]] = -1e30f;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

// Rows to signed bytes, each by its greatest magnitude.
__kernel void quantise_rows(__global const float *in, __global char *out, __global float *scales, int n) {
  __local float part[256];
  int t = get_local_id(0);
  __global const float *row = in + get_group_id(0) * n;
  float most = 0.0f;
  for (int i = t; i < n; i += 256) most = fmax(most, fabs(row[i]));
  part[t] = most;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int d = 128; d > 0; d >>= 1) {
    if (t < d) part[t] = fmax(part[t], part[t + d]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  float scale = part[0] / 127.0f;
  if (t == 0) scales[get_group_id(0)] = scale;
  for (int i = t; i < n; i += 256) {
    float level = rint(row[i] / scale);
    out[get_group_id(0) * n + i] = (char)fmin(fmax(level, -127.0f), 127.0f);
  }
}

float gelu(float x) { return 0.5f * x * (1.0f + tanh(0.79788456f * (x + 0.044715f * x * x * x))); }

// Bias and GELU, four elements a thread.
__kernel void gelu_bias(__global const float4 *in, __global const float4 *bias, __global float4 *out, int quads, int n) {
  int i = get_global_id(0);
  if (i >= n) return;
  float4 x = in[i], b = bias[i % quads];
  out[i] = (float4)(gelu(x.x + b.x), gelu(x.y + b.y), gelu(x.z + b.z), gelu(x.w + b.w));
}
