// The kernels of primitives.cu in OpenCL C.

#define SCAN 512
#define PLACE(i) ((i) + ((i) >> 5))
#define COLUMNS 600

__kernel void blelloch_scan(__global int *out, __global int *totals, __global const int *in) {
  __local int tree[SCAN + SCAN / 32];
  int t = get_local_id(0), first = get_group_id(0) * SCAN, offset = 1;
  int a = t, b = t + SCAN / 2;
  tree[PLACE(a)] = in[first + a];
  tree[PLACE(b)] = in[first + b];
  for (int d = SCAN >> 1; d > 0; d >>= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < d) {
      int left = offset * (2 * t + 1) - 1, right = offset * (2 * t + 2) - 1;
      tree[PLACE(right)] += tree[PLACE(left)];
    }
    offset *= 2;
  }
  if (t == 0) {
    totals[get_group_id(0)] = tree[PLACE(SCAN - 1)];
    tree[PLACE(SCAN - 1)] = 0;
  }
  for (int d = 1; d < SCAN; d *= 2) {
    offset >>= 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < d) {
      int left = offset * (2 * t + 1) - 1, right = offset * (2 * t + 2) - 1;
      int kept = tree[PLACE(left)];
      tree[PLACE(left)] = tree[PLACE(right)];
      tree[PLACE(right)] += kept;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  out[first + a] = tree[PLACE(a)];
  out[first + b] = tree[PLACE(b)];
}

__kernel void segmented_scan(__global float *out, __global const float *in, __global const uchar *flags, int n) {
  __local float sums[256];
  __local int starts[256];
  int t = get_local_id(0), i = get_group_id(0) * 256 + t;
  float sum = i < n ? in[i] : 0;
  int start = i < n ? flags[i] : 1;
  sums[t] = sum;
  starts[t] = start;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int d = 1; d < 256; d <<= 1) {
    float before = 0;
    int begun = 1;
    if (t >= d) {
      before = sums[t - d];
      begun = starts[t - d];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (!start && t >= d) {
      sum += before;
      start = begun;
      sums[t] = sum;
      starts[t] = start;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (i < n) out[i] = sum;
}

__kernel void compact_blocks(__global float *values, __global int *from, __global const float *in,
                             __global const int *offsets, float low, float high, int n) {
  __local int ranks[2][256];
  int t = get_local_id(0), i = get_global_id(0), now = 0;
  float x = 0;
  int keep = 0;
  if (i < n) {
    x = in[i];
    keep = x >= low && x < high;
  }
  ranks[0][t] = keep;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int d = 1; d < 256; d *= 2) {
    int sum = ranks[now][t];
    if (t >= d) sum += ranks[now][t - d];
    now ^= 1;
    ranks[now][t] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (keep) {
    int at = offsets[get_group_id(0)] + ranks[now][t] - 1;
    values[at] = x;
    from[at] = i;
  }
}

__kernel void fft_256(__global float2 *out, __global const float2 *in, __global const float2 *roots) {
  __local float2 part[256];
  int t = get_local_id(0), first = get_group_id(0) * 256;
  float2 v[4];
  for (int k = 0; k < 4; k++) v[k] = in[first + t + 64 * k];
  for (int span = 1; span < 256; span *= 4) {
    int within = t % span;
    for (int k = 1; k < 4; k++) {
      float2 w = roots[k * within * (64 / span)], x = v[k];
      v[k] = (float2)(x.x * w.x - x.y * w.y, x.x * w.y + x.y * w.x);
    }
    float2 a = (float2)(v[0].x + v[2].x, v[0].y + v[2].y), b = (float2)(v[0].x - v[2].x, v[0].y - v[2].y);
    float2 c = (float2)(v[1].x + v[3].x, v[1].y + v[3].y), d = (float2)(v[1].y - v[3].y, v[3].x - v[1].x);
    int at = (t - within) * 4 + within;
    part[at] = (float2)(a.x + c.x, a.y + c.y);
    part[at + span] = (float2)(b.x + d.x, b.y + d.y);
    part[at + 2 * span] = (float2)(a.x - c.x, a.y - c.y);
    part[at + 3 * span] = (float2)(b.x - d.x, b.y - d.y);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 4; k++) v[k] = part[t + 64 * k];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int k = 0; k < 4; k++) out[first + t + 64 * k] = v[k];
}

// The shuffles' part goes through local memory.
__kernel void argmax_rows(__global float *greatest, __global int *where, __global const float *matrix) {
  __local float tops[128];
  __local int places[128];
  int t = get_local_id(0), lane = t & 31;
  __global const float *row = matrix + get_group_id(0) * COLUMNS;
  float top = -1e30f;
  int place = COLUMNS;
  for (int k = t; k < COLUMNS; k += 128) {
    float x = row[k];
    if (x > top) {
      top = x;
      place = k;
    }
  }
  tops[t] = top;
  places[t] = place;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int d = 16; d > 0; d >>= 1) {
    if (lane < d) {
      float x = tops[t + d];
      int k = places[t + d];
      if (x > top || (x == top && k < place)) {
        top = x;
        place = k;
        tops[t] = top;
        places[t] = place;
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) {
    for (int w = 32; w < 128; w += 32) {
      if (tops[w] > top || (tops[w] == top && places[w] < place)) {
        top = tops[w];
        place = places[w];
      }
    }
    greatest[get_group_id(0)] = top;
    where[get_group_id(0)] = place;
  }
}

__kernel void radix_digit(__global uint *keys, __global uint *values, __global uint *counts, int shift) {
  __local uint some[256], others[256], sums[256], digits[16];
  int t = get_local_id(0), i = get_group_id(0) * 256 + t;
  some[t] = keys[i];
  others[t] = values[i];
  if (t < 16) digits[t] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int bit = shift; bit < shift + 4; bit++) {
    uint key = some[t], value = others[t], one = key >> bit & 1;
    sums[t] = one;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 1; d < 256; d <<= 1) {
      uint before = t >= d ? sums[t - d] : 0;
      barrier(CLK_LOCAL_MEM_FENCE);
      sums[t] += before;
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint ones = sums[255], ahead = sums[t] - one;
    uint to = one ? 256 - ones + ahead : t - ahead;
    some[to] = key;
    others[to] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  atomic_add(&digits[some[t] >> shift & 15], 1u);
  keys[i] = some[t];
  values[i] = others[t];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (t < 16) counts[t * get_num_groups(0) + get_group_id(0)] = digits[t];
}
