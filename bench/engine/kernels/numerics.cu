// Programs' inner kernels: particles, normalised rows, prices, look-ups, images, clusters, sequences.

// Accelerations of bodies by each other, summed up.
extern "C" __global__ void bodies(float *out, const float *x, const float *y, const float *z, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float a = 0, b = 0, c = 0, own_x = x[i], own_y = y[i], own_z = z[i];
  for (int j = 0; j < n; j++) {
    float dx = x[j] - own_x, dy = y[j] - own_y, dz = z[j] - own_z;
    float r = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-2f), s = r * r * r;
    a += fabsf(dx) * s;
    b += fabsf(dy) * s;
    c += fabsf(dz) * s;
  }
  out[i] = a + b + c;
}

// A row a block: exponentials over their sum.
extern "C" __global__ void softmax(float *out, const float *in, int n) {
  __shared__ float part[128];
  int t = threadIdx.x, row = blockIdx.x * n;
  float most = -1e30f, sum = 0;
  for (int i = t; i < n; i += 128) most = fmaxf(most, in[row + i]);
  part[t] = most;
  __syncthreads();
  for (int k = 64; k > 0; k >>= 1) {
    if (t < k) part[t] = fmaxf(part[t], part[t + k]);
    __syncthreads();
  }
  most = part[0];
  __syncthreads();
  for (int i = t; i < n; i += 128) sum += expf(in[row + i] - most);
  part[t] = sum;
  __syncthreads();
  for (int k = 64; k > 0; k >>= 1) {
    if (t < k) part[t] += part[t + k];
    __syncthreads();
  }
  float scale = 1.0f / part[0];
  for (int i = t; i < n; i += 128) out[row + i] = expf(in[row + i] - most) * scale;
}

// Neighbours weighted by their distance and by how alike they are.
extern "C" __global__ void bilateral(float *out, const float *in, int side) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 2 || y < 2 || x >= side - 2 || y >= side - 2) return;
  float own = in[y * side + x], sum = 0, weights = 0;
  for (int j = -2; j <= 2; j++)
    for (int i = -2; i <= 2; i++) {
      float one = in[(y + j) * side + x + i], apart = one - own;
      float weight = expf(-0.1f * (i * i + j * j) - 8.0f * apart * apart);
      sum += weight * one;
      weights += weight;
    }
  out[y * side + x] = sum / weights;
}

// The price of a call by a logistic approximation of the normal distribution.
extern "C" __global__ void prices(float *out, const float *spot, const float *strike, const float *years,
                                  float rate, float volatility, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float root = volatility * sqrtf(years[i]);
  float d = (logf(spot[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i]) / root;
  float e = d - root;
  float above = 1.0f / (1.0f + expf(-1.5976f * d - 0.0706f * d * d * d));
  float below = 1.0f / (1.0f + expf(-1.5976f * e - 0.0706f * e * e * e));
  out[i] = spot[i] * above - strike[i] * expf(-rate * years[i]) * below;
}

// A function by a table, linear between its entries.
extern "C" __global__ void table_lookup(float *out, const float *at, const float *table, int last, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float place = at[i] * last;
  int k = (int)place;
  float part = place - k;
  out[i] = table[k] * (1 - part) + table[k + 1] * part;
}

extern "C" __global__ void sobel(unsigned char *out, const unsigned char *in, int side) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= side - 1 || y >= side - 1) return;
  const unsigned char *p = in + y * side + x;
  int across = p[1 - side] + 2 * p[1] + p[1 + side] - p[-1 - side] - 2 * p[-1] - p[-1 + side];
  int down = p[-1 + side] + 2 * p[side] + p[1 + side] - p[-1 - side] - 2 * p[-side] - p[1 - side];
  float size = sqrtf((float)(across * across + down * down));
  out[y * side + x] = size > 255.0f ? 255 : (unsigned char)size;
}

extern "C" __global__ void life(unsigned char *out, const unsigned char *in, int side) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  int left = (x + side - 1) % side, right = (x + 1) % side;
  int up = (y + side - 1) % side * side, down = (y + 1) % side * side, row = y * side;
  int n = in[up + left] + in[up + x] + in[up + right] + in[row + left] + in[row + right] + in[down + left] +
          in[down + x] + in[down + right];
  out[row + x] = n == 3 || (n == 2 && in[row + x]);
}

// The nearest of some centres in eight dimensions.
extern "C" __global__ void assign(int *out, const float *points, const float *centres, int count, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
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
extern "C" __global__ void floyd_step(int *length, int side, int k) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  int by = length[i * side + k] + length[k * side + j];
  if (by < length[i * side + j]) length[i * side + j] = by;
}

// Rounds of rotations and sums, as hash functions have them.
extern "C" __global__ void mixing(unsigned *out, const unsigned *in, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
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
extern "C" __global__ void darts(unsigned *out, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
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
extern "C" __global__ void align(int *out, const unsigned char *texts, const unsigned char *words, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, best = 0;
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
extern "C" __global__ void byte_rows(int *out, const signed char *rows, const signed char *vector, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
  for (int k = 0; k < n; k++) sum += rows[i * n + k] * vector[k];
  out[i] = sum;
}
