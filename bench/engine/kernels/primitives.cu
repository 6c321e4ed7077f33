// The parts that other programs are made of: scans, compaction, sorting by digits, transforms, extremes.

#define SCAN 512
#define PLACE(i) ((i) + ((i) >> 5))
#define COLUMNS 600

// Exclusive sums of 512 numbers per block, up a tree and down again, with room against bank conflicts; the block's
// total goes to another array.
extern "C" __global__ void blelloch_scan(int *out, int *totals, const int *in) {
  __shared__ int tree[SCAN + SCAN / 32];
  int t = threadIdx.x, first = blockIdx.x * SCAN, offset = 1;
  int a = t, b = t + SCAN / 2;
  tree[PLACE(a)] = in[first + a];
  tree[PLACE(b)] = in[first + b];
  for (int d = SCAN >> 1; d > 0; d >>= 1) {
    __syncthreads();
    if (t < d) {
      int left = offset * (2 * t + 1) - 1, right = offset * (2 * t + 2) - 1;
      tree[PLACE(right)] += tree[PLACE(left)];
    }
    offset *= 2;
  }
  if (t == 0) {
    totals[blockIdx.x] = tree[PLACE(SCAN - 1)];
    tree[PLACE(SCAN - 1)] = 0;
  }
  for (int d = 1; d < SCAN; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (t < d) {
      int left = offset * (2 * t + 1) - 1, right = offset * (2 * t + 2) - 1;
      int kept = tree[PLACE(left)];
      tree[PLACE(left)] = tree[PLACE(right)];
      tree[PLACE(right)] += kept;
    }
  }
  __syncthreads();
  out[first + a] = tree[PLACE(a)];
  out[first + b] = tree[PLACE(b)];
}

// Sums that begin anew where a flag stands, over 256 numbers per block, by doubling distances.
extern "C" __global__ void segmented_scan(float *out, const float *in, const unsigned char *flags, int n) {
  __shared__ float sums[256];
  __shared__ int starts[256];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  float sum = i < n ? in[i] : 0;
  int start = i < n ? flags[i] : 1;
  sums[t] = sum;
  starts[t] = start;
  __syncthreads();
  for (int d = 1; d < 256; d <<= 1) {
    float before = 0;
    int begun = 1;
    if (t >= d) {
      before = sums[t - d];
      begun = starts[t - d];
    }
    __syncthreads();
    if (!start && t >= d) {
      sum += before;
      start = begun;
      sums[t] = sum;
      starts[t] = start;
    }
    __syncthreads();
  }
  if (i < n) out[i] = sum;
}

// Who passes a test moves together, in order: places within the block by a scan, the block's own place is known.
extern "C" __global__ void compact_blocks(float *values, int *from, const float *in, const int *offsets,
                                          float low, float high, int n) {
  __shared__ int ranks[2][256];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, now = 0;
  float x = 0;
  int keep = 0;
  if (i < n) {
    x = in[i];
    keep = x >= low && x < high;
  }
  ranks[0][t] = keep;
  __syncthreads();
  for (int d = 1; d < 256; d *= 2) {
    int sum = ranks[now][t];
    if (t >= d) sum += ranks[now][t - d];
    now ^= 1;
    ranks[now][t] = sum;
    __syncthreads();
  }
  if (keep) {
    int at = offsets[blockIdx.x] + ranks[now][t] - 1;
    values[at] = x;
    from[at] = i;
  }
}

// Fourier transforms of 256 complex numbers per block by radix 4, a butterfly per thread, sorted on the way (Stockham).
extern "C" __global__ void fft_256(float2 *out, const float2 *in, const float2 *roots) {
  __shared__ float2 part[256];
  int t = threadIdx.x, first = blockIdx.x * 256;
  float2 v[4];
  for (int k = 0; k < 4; k++) v[k] = in[first + t + 64 * k];
  for (int span = 1; span < 256; span *= 4) {
    int within = t % span;
    for (int k = 1; k < 4; k++) {
      float2 w = roots[k * within * (64 / span)], x = v[k];
      v[k] = make_float2(x.x * w.x - x.y * w.y, x.x * w.y + x.y * w.x);
    }
    float2 a = make_float2(v[0].x + v[2].x, v[0].y + v[2].y), b = make_float2(v[0].x - v[2].x, v[0].y - v[2].y);
    float2 c = make_float2(v[1].x + v[3].x, v[1].y + v[3].y), d = make_float2(v[1].y - v[3].y, v[3].x - v[1].x);
    int at = (t - within) * 4 + within;
    part[at] = make_float2(a.x + c.x, a.y + c.y);
    part[at + span] = make_float2(b.x + d.x, b.y + d.y);
    part[at + 2 * span] = make_float2(a.x - c.x, a.y - c.y);
    part[at + 3 * span] = make_float2(b.x - d.x, b.y - d.y);
    __syncthreads();
    for (int k = 0; k < 4; k++) v[k] = part[t + 64 * k];
    __syncthreads();
  }
  for (int k = 0; k < 4; k++) out[first + t + 64 * k] = v[k];
}

// The greatest element of each row and where it stands first: a row per block, warps by shuffles, then the warps'.
extern "C" __global__ void argmax_rows(float *greatest, int *where, const float *matrix) {
  __shared__ float tops[4];
  __shared__ int places[4];
  int t = threadIdx.x, lane = t & 31, warp = t >> 5;
  const float *row = matrix + blockIdx.x * COLUMNS;
  float top = -1e30f;
  int place = COLUMNS;
  for (int k = t; k < COLUMNS; k += 128) {
    float x = row[k];
    if (x > top) {
      top = x;
      place = k;
    }
  }
  for (int d = 16; d > 0; d >>= 1) {
    float x = __shfl_down_sync(0xffffffffu, top, d);
    int k = __shfl_down_sync(0xffffffffu, place, d);
    if (x > top || (x == top && k < place)) {
      top = x;
      place = k;
    }
  }
  if (lane == 0) {
    tops[warp] = top;
    places[warp] = place;
  }
  __syncthreads();
  if (t == 0) {
    for (int w = 1; w < 4; w++) {
      if (tops[w] > top || (tops[w] == top && places[w] < place)) {
        top = tops[w];
        place = places[w];
      }
    }
    greatest[blockIdx.x] = top;
    where[blockIdx.x] = place;
  }
}

// A step of a radix sort: each block puts 256 keys and their values in order by four bits, one bit at a time, and
// counts the digits.
extern "C" __global__ void radix_digit(unsigned *keys, unsigned *values, unsigned *counts, int shift) {
  __shared__ unsigned some[256], others[256], sums[256], digits[16];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  some[t] = keys[i];
  others[t] = values[i];
  if (t < 16) digits[t] = 0;
  __syncthreads();
  for (int bit = shift; bit < shift + 4; bit++) {
    unsigned key = some[t], value = others[t], one = key >> bit & 1;
    sums[t] = one;
    __syncthreads();
    for (int d = 1; d < 256; d <<= 1) {
      unsigned before = t >= d ? sums[t - d] : 0;
      __syncthreads();
      sums[t] += before;
      __syncthreads();
    }
    unsigned ones = sums[255], ahead = sums[t] - one;
    unsigned to = one ? 256 - ones + ahead : t - ahead;
    some[to] = key;
    others[to] = value;
    __syncthreads();
  }
  atomicAdd(&digits[some[t] >> shift & 15], 1u);
  keys[i] = some[t];
  values[i] = others[t];
  __syncthreads();
  if (t < 16) counts[t * gridDim.x + blockIdx.x] = digits[t];
}
