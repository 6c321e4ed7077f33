// Options, random numbers, spins, ciphers, searches: much arithmetic on few bytes.

#define STEPS 255
#define SITES 1024
#define QUEENS 11

// American puts: an option per block, the tree's last level in shared memory and folded back step by step.
extern "C" __global__ void binomial_puts(float *out, const float *spots, const float *strikes, const float *years,
                                         float rate, float volatility) {
  __shared__ float values[STEPS + 1];
  int t = threadIdx.x;
  float spot = spots[blockIdx.x], strike = strikes[blockIdx.x], dt = years[blockIdx.x] / STEPS;
  float move = volatility * sqrtf(dt), up = expf(move), down = 1.0f / up;
  float grow = expf(rate * dt), p = (grow - down) / (up - down);
  float rising = p / grow, falling = (1.0f - p) / grow;

  values[t] = fmaxf(strike - spot * expf(move * (2 * t - STEPS)), 0.0f);
  __syncthreads();
  for (int level = STEPS - 1; level >= 0; level--) {
    float value = 0;
    if (t <= level) {
      float hold = rising * values[t + 1] + falling * values[t];
      float price = spot * expf(move * (2 * t - level));
      value = fmaxf(hold, strike - price);
    }
    __syncthreads();
    if (t <= level) values[t] = value;
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = values[0];
}

__device__ uint4 philox(uint4 c, uint2 key) {
  for (int round = 0; round < 10; round++) {
    unsigned high0 = __umulhi(0xD2511F53u, c.x), low0 = 0xD2511F53u * c.x;
    unsigned high1 = __umulhi(0xCD9E8D57u, c.z), low1 = 0xCD9E8D57u * c.z;
    c = make_uint4(high1 ^ c.y ^ key.x, low1, high0 ^ c.w ^ key.y, low0);
    key.x += 0x9E3779B9u;
    key.y += 0xBB67AE85u;
  }
  return c;
}

// Pi by points in a square, two of every four numbers that Philox 4x32 makes of a counter.
extern "C" __global__ void philox_pi(unsigned *hits, unsigned seed, int rounds) {
  __shared__ unsigned part[256];
  int t = threadIdx.x;
  unsigned i = blockIdx.x * blockDim.x + t, inside = 0;
  for (int k = 0; k < rounds; k++) {
    uint4 r = philox(make_uint4(i, k, 0, 0), make_uint2(seed, 0x1234567u));
    float x = (r.x >> 8) * (1.0f / 16777216.0f), y = (r.y >> 8) * (1.0f / 16777216.0f);
    float u = (r.z >> 8) * (1.0f / 16777216.0f), v = (r.w >> 8) * (1.0f / 16777216.0f);
    if (x * x + y * y < 1.0f) inside++;
    if (u * u + v * v < 1.0f) inside++;
  }
  part[t] = inside;
  __syncthreads();
  for (int half = 128; half > 0; half >>= 1) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  if (t == 0) atomicAdd(hits, part[0]);
}

// Ising's model: one colour of the checkerboard, spins turned by Metropolis's rule.
extern "C" __global__ void ising_colour(signed char *spins, const float *chances, int colour, unsigned seed) {
  int half = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (half >= SITES / 2 || y >= SITES) return;
  int x = 2 * half + ((y + colour) & 1);
  int left = x == 0 ? SITES - 1 : x - 1, right = x == SITES - 1 ? 0 : x + 1;
  int above = y == 0 ? SITES - 1 : y - 1, below = y == SITES - 1 ? 0 : y + 1;
  int spin = spins[y * SITES + x];
  int around = spins[y * SITES + left] + spins[y * SITES + right] + spins[above * SITES + x] +
               spins[below * SITES + x];
  unsigned r = (y * SITES + x) * 0x9E3779B9u ^ seed;
  r = (r ^ r >> 16) * 0x85EBCA6Bu;
  r = (r ^ r >> 13) * 0xC2B2AE35u;
  r ^= r >> 16;
  if ((r >> 8) * (1.0f / 16777216.0f) < chances[(spin * around + 4) / 2]) spins[y * SITES + x] = -spin;
}

__device__ unsigned turn(unsigned x, int by) {
  return x << by | x >> (32 - by);
}

#define QUARTER(a, b, c, d) \
  a += b; d = turn(d ^ a, 16); c += d; b = turn(b ^ c, 12); \
  a += b; d = turn(d ^ a, 8);  c += d; b = turn(b ^ c, 7);

// ChaCha20: each thread makes 64 bytes of the key stream and enciphers as many.
extern "C" __global__ void chacha20(uint4 *out, const uint4 *in, const unsigned *key, unsigned first,
                                    unsigned nonce0, unsigned nonce1, unsigned nonce2, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned start[16], x[16];
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
  for (int round = 0; round < 10; round++) {
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

// Queens: a thread for every placing in the first three rows counts the ways to place the others, with a stack of
// free columns.
extern "C" __global__ void queens(int *counts, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n * n * n) return;
  unsigned all = (1u << n) - 1, columns = 0, left = 0, right = 0;
  int rest = i;
  for (int row = 0; row < 3; row++) {
    unsigned here = 1u << rest % n;
    rest /= n;
    if (here & (columns | left | right)) {
      counts[i] = 0;
      return;
    }
    columns |= here;
    left = (left | here) << 1;
    right = (right | here) >> 1;
  }

  unsigned open[QUEENS], taken[QUEENS], lefts[QUEENS], rights[QUEENS];
  int depth = 0, found = 0, last = n - 4;
  taken[0] = columns;
  lefts[0] = left;
  rights[0] = right;
  open[0] = all & ~(columns | left | right);
  while (depth >= 0) {
    if (open[depth] == 0) {
      depth--;
      continue;
    }
    unsigned here = open[depth] & -open[depth];
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
    open[depth] = all & ~(columns | left | right);
  }
  counts[i] = found;
}

// Heston's model: a path per thread, steps by Euler with variance cut off at zero, normal numbers by Box and Muller.
extern "C" __global__ void heston_paths(float *out, float spot, float variance, float rate, float pull, float mean,
                                        float wild, float linked, float dt, int steps, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned a = i * 2654435761u + 1u, b = 362436069u ^ a, c = 521288629u + i, d = 88675123u;
  float price = logf(spot), v = variance, root = sqrtf(dt), other = sqrtf(1.0f - linked * linked);
  for (int k = 0; k < steps; k++) {
    float uniform[2];
    for (int j = 0; j < 2; j++) {
      unsigned t = a ^ a << 11;
      a = b;
      b = c;
      c = d;
      d = d ^ d >> 19 ^ t ^ t >> 8;
      uniform[j] = ((d >> 8) + 0.5f) * (1.0f / 16777216.0f);
    }
    float radius = sqrtf(-2.0f * logf(uniform[0])), sine, cosine;
    sincosf(6.2831853f * uniform[1], &sine, &cosine);
    float z = radius * cosine, w = linked * z + other * radius * sine;
    float positive = fmaxf(v, 0.0f), spread = sqrtf(positive) * root;
    price += (rate - 0.5f * positive) * dt + spread * w;
    v += pull * (mean - positive) * dt + wild * spread * z;
  }
  out[i] = expf(price);
}
