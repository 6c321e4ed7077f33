// The kernels of numerics.cu in OpenCL C.

// Accelerations of bodies by each other, summed up.
__kernel void bodies(__global float *out, __global const float *x, __global const float *y, __global const
                     float *z, int n) {
  int i = get_global_id(0);
  float a = 0, b = 0, c = 0, own_x = x[i], own_y = y[i], own_z = z[i];
  for (int j = 0; j < n; j++) {
    float dx = x[j] - own_x, dy = y[j] - own_y, dz = z[j] - own_z;
    float r = rsqrt(dx * dx + dy * dy + dz * dz + 1e-2f), s = r * r * r;
    a += fabs(dx) * s;
    b += fabs(dy) * s;
    c += fabs(dz) * s;
  }
  out[i] = a + b + c;
}

// A row a block: exponentials over their sum.
__kernel void softmax(__global float *out, __global const float *in, int n) {
  __local float part[128];
  int t = get_local_id(0), row = get_group_id(0) * n;
  float most = -1e30f, sum = 0;
  for (int i = t; i < n; i += 128) most = fmax(most, in[row + i]);
  part[t] = most;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k = 64; k > 0; k >>= 1) {
    if (t < k) part[t] = fmax(part[t], part[t + k]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  most = part[0];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = t; i < n; i += 128) sum += exp(in[row + i] - most);
  part[t] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k = 64; k > 0; k >>= 1) {
    if (t < k) part[t] += part[t + k];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  float scale = 1.0f / part[0];
  for (int i = t; i < n; i += 128) out[row + i] = exp(in[row + i] - most) * scale;
}

// Neighbours weighted by their distance and by how alike they are.
__kernel void bilateral(__global float *out, __global const float *in, int side) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x < 2 || y < 2 || x >= side - 2 || y >= side - 2) return;
  float own = in[y * side + x], sum = 0, weights = 0;
  for (int j = -2; j <= 2; j++)
    for (int i = -2; i <= 2; i++) {
      float one = in[(y + j) * side + x + i], apart = one - own;
      float weight = exp(-0.1f * (i * i + j * j) - 8.0f * apart * apart);
      sum += weight * one;
      weights += weight;
    }
  out[y * side + x] = sum / weights;
}

// The price of a call by a logistic approximation of the normal distribution.
__kernel void prices(__global float *out, __global const float *spot, __global const float *strike,
                     __global const float *years, float rate, float volatility, int n) {
  int i = get_global_id(0);
  if (i >= n) return;
  float root = volatility * sqrt(years[i]);
  float d = (log(spot[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i]) / root;
  float e = d - root;
  float above = 1.0f / (1.0f + exp(-1.5976f * d - 0.0706f * d * d * d));
  float below = 1.0f / (1.0f + exp(-1.5976f * e - 0.0706f * e * e * e));
  out[i] = spot[i] * above - strike[i] * exp(-rate * years[i]) * below;
}

// A function by a table, linear between its entries.
__kernel void table_lookup(__global float *out, __global const float *at, __global const float *table, int
                           last, int n) {
  int i = get_global_id(0);
  if (i >= n) return;
  float place = at[i] * last;
  int k = (int)place;
  float part = place - k;
  out[i] = table[k] * (1 - part) + table[k + 1] * part;
}

__kernel void sobel(__global uchar *out, __global const uchar *in, int side) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x < 1 || y < 1 || x >= side - 1 || y >= side - 1) return;
  __global const uchar *p = in + y * side + x;
  int across = p[1 - side] + 2 * p[1] + p[1 + side] - p[-1 - side] - 2 * p[-1] - p[-1 + side];
  int down = p[-1 + side] + 2 * p[side] + p[1 + side] - p[-1 - side] - 2 * p[-side] - p[1 - side];
  float size = sqrt((float)(across * across + down * down));
  out[y * side + x] = size > 255.0f ? 255 : (uchar)size;
}

__kernel void life(__global uchar *out, __global const uchar *in, int side) {
  int x = get_global_id(0), y = get_global_id(1);
  int left = (x + side - 1) % side, right = (x + 1) % side;
  int up = (y + side - 1) % side * side, down = (y + 1) % side * side, row = y * side;
  int n = in[up + left] + in[up + x] + in[up + right] + in[row + left] + in[row + right] + in[down + left] +
          in[down + x] + in[down + right];
  out[row + x] = n == 3 || (n == 2 && in[row + x]);
}

// The nearest of some centres in eight dimensions.
__kernel void assign(__global int *out, __global const float *points, __global const float *centres, int
                     count, int n) {
  int i = get_global_id(0);
  float best = 1e30f;
  int at = 0;
  for (int k = 0; k < count; k++) {
    float far = 0;
    for (int d = 0; d < 8; d++) {
      float apart = points[d * n + i] - centres[k * 8 + d];
      far += apart * apart;
    }
    if (far < best) {
      best = far;
      at = k;
    }
  }
  out[i] = at;
}

// One step of all shortest paths: by way of vertex k.
__kernel void floyd_step(__global int *length, int side, int k) {
  int j = get_global_id(0), i = get_global_id(1);
  int by = length[i * side + k] + length[k * side + j];
  if (by < length[i * side + j]) length[i * side + j] = by;
}

// Rounds of rotations and sums, as hash functions have them.
__kernel void mixing(__global unsigned *out, __global const unsigned *in, int rounds) {
  int i = get_global_id(0);
  unsigned a = in[i], b = 0x6a09e667u, c = 0xbb67ae85u;
  for (int k = 0; k < rounds; k++) {
    unsigned turned = (a >> 6 | a << 26) ^ (a >> 11 | a << 21) ^ (a >> 25 | a << 7);
    unsigned next = c + turned + ((a & b) ^ (~a & c)) + k * 0x9e3779b9u;
    c = b;
    b = a;
    a = next;
  }
  out[i] = a ^ b ^ c;
}

// Points of a generator of random numbers that fall into the unit circle.
__kernel void darts(__global unsigned *out, int count) {
  int i = get_global_id(0);
  unsigned state = i * 2654435761u + 12345u, hits = 0;
  for (int k = 0; k < count; k++) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    int x = state & 0x7fff, y = state >> 16 & 0x7fff;
    hits += x * x + y * y < 1 << 30;
  }
  out[i] = hits;
}

// The best local alignment of 32 letters with a text, a pair a thread.
__kernel void align(__global int *out, __global const uchar *texts, __global const uchar *words, int n) {
  int i = get_global_id(0), best = 0;
  int row[33];
  for (int j = 0; j <= 32; j++) row[j] = 0;
  for (int k = 0; k < n; k++) {
    int corner = 0, left = 0, letter = texts[i * n + k];
    for (int j = 1; j <= 32; j++) {
      int above = row[j], one = corner + (letter == words[i * 32 + j - 1] ? 2 : -1);
      one = max(max(one, 0), max(above, left) - 1);
      corner = above;
      row[j] = one;
      left = one;
      best = max(best, one);
    }
  }
  out[i] = best;
}

// A row a thread: bytes of a row times those of a vector.
__kernel void byte_rows(__global int *out, __global const char *rows, __global const char *vector, int n) {
  int i = get_global_id(0), sum = 0;
  for (int k = 0; k < n; k++) sum += rows[i * n + k] * vector[k];
  out[i] = sum;
}
