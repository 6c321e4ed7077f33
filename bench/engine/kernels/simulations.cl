// The kernels of numbers.cu in OpenCL C.

#define STEPS 255
#define SITES 1024
#define QUEENS 11

__kernel void binomial_puts(__global float *out, __global const float *spots, __global const float *strikes,
                            __global const float *years, float rate, float volatility) {
  __local float values[STEPS + 1];
  int t = get_local_id(0);
  float spot = spots[get_group_id(0)], strike = strikes[get_group_id(0)], dt = years[get_group_id(0)] / STEPS;
  float move = volatility * sqrt(dt), up = exp(move), down = 1.0f / up;
  float grow = exp(rate * dt), p = (grow - down) / (up - down);
  float rising = p / grow, falling = (1.0f - p) / grow;

  values[t] = fmax(strike - spot * exp(move * (2 * t - STEPS)), 0.0f);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int level = STEPS - 1; level >= 0; level--) {
    float value = 0;
    if (t <= level) {
      float hold = rising * values[t + 1] + falling * values[t];
      float price = spot * exp(move * (2 * t - level));
      value = fmax(hold, strike - price);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t <= level) values[t] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) out[get_group_id(0)] = values[0];
}

uint4 philox(uint4 c, uint2 key) {
  for (int round_ = 0; round_ < 10; round_++) {
    uint high0 = mul_hi(0xD2511F53u, c.x), low0 = 0xD2511F53u * c.x;
    uint high1 = mul_hi(0xCD9E8D57u, c.z), low1 = 0xCD9E8D57u * c.z;
    c = (uint4)(high1 ^ c.y ^ key.x, low1, high0 ^ c.w ^ key.y, low0);
    key.x += 0x9E3779B9u;
    key.y += 0xBB67AE85u;
  }
  return c;
}

__kernel void philox_pi(__global uint *hits, uint seed, int rounds) {
  __local uint part[256];
  int t = get_local_id(0);
  uint i = get_global_id(0), inside = 0;
  for (int k = 0; k < rounds; k++) {
    uint4 r = philox((uint4)(i, k, 0, 0), (uint2)(seed, 0x1234567u));
    float x = (r.x >> 8) * (1.0f / 16777216.0f), y = (r.y >> 8) * (1.0f / 16777216.0f);
    float u = (r.z >> 8) * (1.0f / 16777216.0f), v = (r.w >> 8) * (1.0f / 16777216.0f);
    if (x * x + y * y < 1.0f) inside++;
    if (u * u + v * v < 1.0f) inside++;
  }
  part[t] = inside;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int half_ = 128; half_ > 0; half_ >>= 1) {
    if (t < half_) part[t] += part[t + half_];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) atomic_add(hits, part[0]);
}

__kernel void ising_colour(__global char *spins, __global const float *chances, int colour, uint seed) {
  int half_ = get_global_id(0), y = get_global_id(1);
  if (half_ >= SITES / 2 || y >= SITES) return;
  int x = 2 * half_ + ((y + colour) & 1);
  int left = x == 0 ? SITES - 1 : x - 1, right = x == SITES - 1 ? 0 : x + 1;
  int above = y == 0 ? SITES - 1 : y - 1, below = y == SITES - 1 ? 0 : y + 1;
  int spin = spins[y * SITES + x];
  int around = spins[y * SITES + left] + spins[y * SITES + right] + spins[above * SITES + x] +
               spins[below * SITES + x];
  uint r = (y * SITES + x) * 0x9E3779B9u ^ seed;
  r = (r ^ r >> 16) * 0x85EBCA6Bu;
  r = (r ^ r >> 13) * 0xC2B2AE35u;
  r ^= r >> 16;
  if ((r >> 8) * (1.0f / 16777216.0f) < chances[(spin * around + 4) / 2]) spins[y * SITES + x] = -spin;
}

uint turn(uint x, int by) {
  return x << by | x >> (32 - by);
}

#define QUARTER(a, b, c, d) \
  a += b; d = turn(d ^ a, 16); c += d; b = turn(b ^ c, 12); \
  a += b; d = turn(d ^ a, 8);  c += d; b = turn(b ^ c, 7);

__kernel void chacha20(__global uint4 *out, __global const uint4 *in, __global const uint *key, uint first,
                       uint nonce0, uint nonce1, uint nonce2, int n) {
  int i = get_global_id(0);
  if (i >= n) return;
  uint start[16], x[16];
  start[0] = 0x61707865u;
  start[1] = 0x3320646eu;
  start[2] = 0x79622d32u;
  start[3] = 0x6b206574u;
  for (int k = 0; k < 8; k++) start[4 + k] = key[k];
  start[12] = first + i;
  start[13] = nonce0;
  start[14] = nonce1;
  start[15] = nonce2;
  for (int k = 0; k < 16; k++) x[k] = start[k];
  for (int round_ = 0; round_ < 10; round_++) {
    QUARTER(x[0], x[4], x[8], x[12])
    QUARTER(x[1], x[5], x[9], x[13])
    QUARTER(x[2], x[6], x[10], x[14])
    QUARTER(x[3], x[7], x[11], x[15])
    QUARTER(x[0], x[5], x[10], x[15])
    QUARTER(x[1], x[6], x[11], x[12])
    QUARTER(x[2], x[7], x[8], x[13])
    QUARTER(x[3], x[4], x[9], x[14])
  }
  for (int k = 0; k < 4; k++) {
    uint4 text = in[i * 4 + k];
    text.x ^= x[4 * k] + start[4 * k];
    text.y ^= x[4 * k + 1] + start[4 * k + 1];
    text.z ^= x[4 * k + 2] + start[4 * k + 2];
    text.w ^= x[4 * k + 3] + start[4 * k + 3];
    out[i * 4 + k] = text;
  }
}

__kernel void queens(__global int *counts, int n) {
  int i = get_global_id(0);
  if (i >= n * n * n) return;
  uint all_ = (1u << n) - 1, columns = 0, left = 0, right = 0;
  int rest = i;
  for (int row = 0; row < 3; row++) {
    uint here = 1u << rest % n;
    rest /= n;
    if (here & (columns | left | right)) {
      counts[i] = 0;
      return;
    }
    columns |= here;
    left = (left | here) << 1;
    right = (right | here) >> 1;
  }

  uint open[QUEENS], taken[QUEENS], lefts[QUEENS], rights[QUEENS];
  int depth = 0, found = 0, last = n - 4;
  taken[0] = columns;
  lefts[0] = left;
  rights[0] = right;
  open[0] = all_ & ~(columns | left | right);
  while (depth >= 0) {
    if (open[depth] == 0) {
      depth--;
      continue;
    }
    uint here = open[depth] & -open[depth];
    open[depth] ^= here;
    if (depth == last) {
      found++;
      continue;
    }
    columns = taken[depth] | here;
    left = (lefts[depth] | here) << 1;
    right = (rights[depth] | here) >> 1;
    depth++;
    taken[depth] = columns;
    lefts[depth] = left;
    rights[depth] = right;
    open[depth] = all_ & ~(columns | left | right);
  }
  counts[i] = found;
}

__kernel void heston_paths(__global float *out, float spot, float variance, float rate, float pull, float mean,
                           float wild, float linked, float dt, int steps, int n) {
  int i = get_global_id(0);
  if (i >= n) return;
  uint a = i * 2654435761u + 1u, b = 362436069u ^ a, c = 521288629u + i, d = 88675123u;
  float price = log(spot), v = variance, root = sqrt(dt), other = sqrt(1.0f - linked * linked);
  for (int k = 0; k < steps; k++) {
    float uniform_[2];
    for (int j = 0; j < 2; j++) {
      uint t = a ^ a << 11;
      a = b;
      b = c;
      c = d;
      d = d ^ d >> 19 ^ t ^ t >> 8;
      uniform_[j] = ((d >> 8) + 0.5f) * (1.0f / 16777216.0f);
    }
    float radius = sqrt(-2.0f * log(uniform_[0])), sine, cosine;
    sine = sincos(6.2831853f * uniform_[1], &cosine);
    float z = radius * cosine, w = linked * z + other * radius * sine;
    float positive = fmax(v, 0.0f), spread = sqrt(positive) * root;
    price += (rate - 0.5f * positive) * dt + spread * w;
    v += pull * (mean - positive) * dt + wild * spread * z;
  }
  out[i] = exp(price);
}
