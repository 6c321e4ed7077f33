// Truth kernels, further set: what the open set has none of. more.json says how each is launched. Results that
// depend on the order of threads: shared_float4 with an even step, the float sums of atomic_float_double.
#include <cuda_fp16.h>
#define X (blockIdx.x * blockDim.x + threadIdx.x)
#define Y (blockIdx.y * blockDim.y + threadIdx.y)
#define Z (blockIdx.z * blockDim.z + threadIdx.z)
// ---------------------------------------------------------------- vector accesses, arrays of structures
template <typename T> __global__ void vec_copy(const T *a, T *b, int n) {
  int i = X;
  if (i < n) b[i] = a[i];
}
extern "C" __global__ void vec_axpy_double2(const double2 *x, double2 *y, double a, int n) {
  int i = X;
  if (i >= n) return;
  double2 p = x[i], q = y[i];
  q.x += a * p.x; q.y += a * p.y;
  y[i] = q;
}
extern "C" __global__ void vec_uchar4_grey(const uchar4 *p, unsigned char *g, int n) {
  int i = X;
  if (i < n) { uchar4 c = p[i]; g[i] = (c.x * 77 + c.y * 151 + c.z * 28) >> 8; }
}
extern "C" __global__ void vec_int4_rows(const int4 *a, int *out, int n) {
  for (int i = X; i < n; i += gridDim.x * blockDim.x) { int4 v = a[i]; out[i] = v.x ^ v.y ^ v.z ^ v.w; }
}
extern "C" __global__ void vec_float2_strided(const float2 *a, float2 *b, int stride, int n) {
  int i = X;
  if (i * stride < n) { float2 v = a[i * stride]; b[i] = make_float2(v.y, v.x); }
}
struct Particle { float x, y, z; int id; };
struct __align__(16) Aligned { float x, y, z, w; };
struct Mixed { char tag; short s; int i; double d; float f; };
extern "C" __global__ void aos_move(Particle *p, float dt, int n) {
  int i = X;
  if (i < n) { p[i].x += dt * p[i].z; p[i].y -= dt; p[i].id ^= i; }
}
extern "C" __global__ void soa_move(float *x, float *y, const float *z, int *id, float dt, int n) {
  int i = X;
  if (i < n) { x[i] += dt * z[i]; y[i] -= dt; id[i] ^= i; }
}
extern "C" __global__ void aos_aligned(Aligned *p, float dt, int n) {
  int i = X;
  if (i < n) { Aligned a = p[i]; a.x += dt * a.w; a.y *= dt; p[i] = a; }
}
extern "C" __global__ void mixed_fields(const Mixed *p, double *out, int n) {
  int i = X;
  if (i < n) out[i] = p[i].tag + p[i].s * .5 + (p[i].i & 255) + p[i].f;
}
extern "C" __global__ void shared_float2(const float2 *a, float2 *b, int step) {
  __shared__ float2 s[256];
  int t = threadIdx.x, i = X;
  s[t] = a[i];
  __syncthreads();
  float2 v = s[t * step & 255];
  b[i] = make_float2(v.y, v.x);
}
extern "C" __global__ void shared_float4(const float4 *a, float4 *b, int step) {
  __shared__ float4 s[256];
  int t = threadIdx.x, i = X;
  s[t * step & 255] = a[i];
  __syncthreads();
  b[i] = s[255 - t];
}
extern "C" __global__ void shared_half_warps(const double *a, double *b) {
  __shared__ double s[256];
  int t = threadIdx.x, i = X;
  s[t] = a[i];
  __syncthreads();
  b[i] = s[t & 240] + s[t >> 1] + s[t >> 2];
}
// ---------------------------------------------------------------- atomics
extern "C" __global__ void atomic_histogram(const int *bin, int *h, int n) {
  int i = X;
  if (i < n) atomicAdd(h + bin[i], 1);
}
extern "C" __global__ void atomic_extremes(const int *a, const int *slot, int *low, int *high, int *old, int n) {
  int i = X;
  if (i >= n) return;
  atomicMin(low + slot[i], a[i]);
  old[i] = atomicMax(high + i, a[i]);
}
extern "C" __global__ void atomic_cas_float_max(const float *a, const int *perm, int *best, int n) {
  int i = X;
  if (i >= n) return;
  int *p = best + perm[i], seen = *p;
  while (__int_as_float(seen) < a[i]) {
    int before = atomicCAS(p, seen, __float_as_int(a[i]));
    if (before == seen) break;
    seen = before;
  }
}
extern "C" __global__ void atomic_exchange(const float *a, const int *perm, float *slot, float *old, int n) {
  int i = X;
  if (i < n) old[i] = atomicExch(slot + perm[i], a[i]);
}
extern "C" __global__ void atomic_float_double(const float *a, const int *slot, float *f, double *d, float *old, int n) {
  int i = X;
  if (i >= n) return;
  atomicAdd(f + slot[i], a[i]);
  atomicAdd(d + (slot[i] >> 2), (double)a[i]);
  old[i] = atomicAdd(f + n + i, 1.f);
}
extern "C" __global__ void atomic_count(const float *a, int *count, int n) {
  int i = X;
  if (i < n) { atomicAdd(count, 1); if (a[i] > .5f) atomicAdd(count + 1, 2); }
}
extern "C" __global__ void atomic_append(const float *a, float *kept, int *count, int n) {
  int i = X;
  if (i < n && a[i] > .75f) kept[atomicAdd(count, 1)] = 1;
}
extern "C" __global__ void atomic_bits(const int *a, unsigned *bits, unsigned long long *wide, int n) {
  int i = X;
  if (i >= n) return;
  int v = a[i];
  atomicOr(bits + (v >> 5), 1u << (v & 31));
  atomicXor(bits + 512 + (i >> 5), 1u << (i & 31));
  atomicAdd(wide + (v & 63), (unsigned long long)v);
}
extern "C" __global__ void shared_histogram(const unsigned char *a, int *h, int n) {
  __shared__ int s[256];
  s[threadIdx.x] = 0;
  __syncthreads();
  for (int i = X; i < n; i += gridDim.x * blockDim.x) atomicAdd(s + a[i], 1);
  __syncthreads();
  atomicAdd(h + threadIdx.x, s[threadIdx.x]);
}
extern "C" __global__ void shared_float_atomics(const float *a, float *out) {
  __shared__ float s[32];
  int t = threadIdx.x, i = X;
  s[t] = 0;
  __syncwarp();
  atomicAdd(s + (t ^ 5), a[i]);
  atomicAdd(s + (t & 7), 1.f);
  __syncwarp();
  out[i] = s[t];
}
extern "C" __global__ void shared_int_atomics(const int *a, const int *slot, int *out) {
  __shared__ int low[64], count[64], ring[64];
  int t = threadIdx.x, i = X;
  if (t < 64) { low[t] = 1 << 30; count[t] = 0; ring[t] = t; }
  __syncthreads();
  atomicMin(low + slot[i], a[i]);
  int order = atomicAdd(count + (t & 63), 3);
  atomicExch(ring + slot[i], 7);
  __syncthreads();
  out[i] = low[t & 63] + count[t & 63] + (order >= 0) + (ring[t & 63] == 7);
}
// ---------------------------------------------------------------- local arrays
extern "C" __global__ void local_dynamic(const float *a, const int *where, float *out, int n) {
  int i = X;
  if (i >= n) return;
  float v[16];
  for (int k = 0; k < 16; k++) v[k] = a[i] * k;
  v[where[i]] += 1;
  float s = 0;
  for (int k = 0; k < 4; k++) s += v[where[i] + k & 15];
  out[i] = s;
}
extern "C" __global__ void local_promoted(const float *a, float *out, int n) {
  int i = X;
  if (i >= n) return;
  float v[8];
#pragma unroll
  for (int k = 0; k < 8; k++) v[k] = a[(i + k) % n];
#pragma unroll
  for (int k = 0; k < 8; k++) v[k] = v[7 - k] * v[k] + v[(k + 1) % 8];
  out[i] = v[0] + v[3] + v[7];
}
extern "C" __global__ void local_sort(const int *a, int *out, int n) {
  int i = X;
  if (i * 8 >= n) return;
  int v[8];
  for (int k = 0; k < 8; k++) v[k] = a[i * 8 + k];
  for (int k = 1; k < 8; k++) {
    int x = v[k], j = k - 1;
    while (j >= 0 && v[j] > x) { v[j + 1] = v[j]; j--; }
    v[j + 1] = x;
  }
  for (int k = 0; k < 8; k++) out[i * 8 + k] = v[k];
}
extern "C" __global__ void local_bytes(const unsigned char *a, unsigned char *out, int n) {
  int i = X;
  if (i >= n) return;
  unsigned char count[32];
  for (int k = 0; k < 32; k++) count[k] = 0;
  for (int k = 0; k < 24; k++) count[a[(i + 7 * k) % n] & 31]++;
  out[i] = count[a[i] & 31] * 8 + count[i & 31];
}
extern "C" __global__ void local_double2(const double *a, const int *where, double *out, int n) {
  int i = X;
  if (i >= n) return;
  double2 v[8];
  for (int k = 0; k < 8; k++) v[k] = make_double2(a[i] + k, k);
  int w = where[i] & 7;
  v[w].x *= 2;
  out[i] = v[w ^ 3].x + v[w].y + v[i & 7].x;
}
// ---------------------------------------------------------------- bytes and 16 bits
extern "C" __global__ void bytes_blend(const unsigned char *a, const unsigned char *b, unsigned char *c, int n) {
  int i = X;
  if (i < n) c[i] = (a[i] * 3 + b[i] + 2) >> 2;
}
extern "C" __global__ void shorts_average(const short *a, unsigned short *b, int n) {
  int i = X;
  if (i > 0 && i < n - 1) b[i] = (a[i - 1] + 2 * a[i] + a[i + 1]) / 4;
}
extern "C" __global__ void planes(const unsigned char *rgb, unsigned char *r, unsigned char *g, unsigned char *b, int n) {
  int i = X;
  if (i < n) { r[i] = rgb[3 * i]; g[i] = rgb[3 * i + 1]; b[i] = rgb[3 * i + 2]; }
}
extern "C" __global__ void shared_bytes(const unsigned char *a, unsigned char *b) {
  __shared__ unsigned char s[256];
  int t = threadIdx.x, i = X;
  s[t * 5 & 255] = a[i];
  __syncthreads();
  b[i] = s[255 - t] ^ s[t * 4 & 255];
}
extern "C" __global__ void life(const unsigned char *a, unsigned char *b, int w, int h) {
  int x = X, y = Y;
  if (x >= w || y >= h) return;
  int n = 0;
  for (int dy = -1; dy <= 1; dy++) for (int dx = -1; dx <= 1; dx++)
    if (dx || dy) n += a[(y + dy + h) % h * w + (x + dx + w) % w] & 1;
  b[y * w + x] = n == 3 || (n == 2 && (a[y * w + x] & 1));
}
// ---------------------------------------------------------------- stencils, 1 to 3 dimensions
extern "C" __global__ void stencil3d(const float *a, float *b, int nx, int ny, int nz) {
  int x = X, y = Y, z = Z;
  if (x < 1 || y < 1 || z < 1 || x >= nx - 1 || y >= ny - 1 || z >= nz - 1) return;
  int i = (z * ny + y) * nx + x;
  b[i] = .4f * a[i] + .1f * (a[i - 1] + a[i + 1] + a[i - nx] + a[i + nx] + a[i - nx * ny] + a[i + nx * ny]);
}
extern "C" __global__ void copy3d(const double *a, double *b, int nx, int ny, int nz) {
  int x = X, y = Y, z = Z;
  if (x < nx && y < ny && z < nz) b[(x * ny + y) * nz + z] = a[(z * ny + y) * nx + x];
}
extern "C" __global__ void jacobi(const float *a, float *b, int w, int h) {
  int x = X, y = Y;
  if (x > 0 && y > 0 && x < w - 1 && y < h - 1)
    b[y * w + x] = .25f * (a[y * w + x - 1] + a[y * w + x + 1] + a[(y - 1) * w + x] + a[(y + 1) * w + x]);
}
extern "C" __global__ void jacobi_shared(const float *a, float *b, int w, int h) {
  __shared__ float s[18][18];
  int tx = threadIdx.x + 1, ty = threadIdx.y + 1, x = X, y = Y;
  bool in = x < w && y < h;
  s[ty][tx] = in ? a[y * w + x] : 0;
  if (tx == 1) s[ty][0] = in && x > 0 ? a[y * w + x - 1] : 0;
  if (tx == 16) s[ty][17] = y < h && x + 1 < w ? a[y * w + x + 1] : 0;
  if (ty == 1) s[0][tx] = in && y > 0 ? a[(y - 1) * w + x] : 0;
  if (ty == 16) s[17][tx] = x < w && y + 1 < h ? a[(y + 1) * w + x] : 0;
  __syncthreads();
  if (in) b[y * w + x] = .25f * (s[ty][tx - 1] + s[ty][tx + 1] + s[ty - 1][tx] + s[ty + 1][tx]);
}
extern "C" __global__ void sobel(const unsigned char *a, short *b, int w, int h) {
  int x = X, y = Y;
  if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
  const unsigned char *p = a + y * w + x;
  int gx = p[1 - w] + 2 * p[1] + p[1 + w] - p[-1 - w] - 2 * p[-1] - p[w - 1];
  int gy = p[w - 1] + 2 * p[w] + p[w + 1] - p[-w - 1] - 2 * p[-w] - p[1 - w];
  b[y * w + x] = abs(gx) + abs(gy);
}
extern "C" __global__ void stencil1d(const double *a, double *b, int n) {
  __shared__ double s[128 + 8];
  int t = threadIdx.x, i = X;
  s[t + 4] = i < n ? a[i] : 0;
  if (t < 4) { s[t] = i >= 4 ? a[i - 4] : 0; s[t + 132] = i + 128 < n ? a[i + 128] : 0; }
  __syncthreads();
  double v = 0;
#pragma unroll
  for (int k = 0; k < 9; k++) v += s[t + k] * (k + 1);
  if (i < n) b[i] = v;
}
// ---------------------------------------------------------------- divergence
extern "C" __global__ void nested_if(const int *a, int *out, int n) {
  int i = X;
  if (i >= n) return;
  int v = a[i], r = 0;
  if (v & 1) {
    if (v & 2) for (int k = 0; k < (v >> 4 & 7); k++) r += k * v ^ r;
    else r = v * 3;
    r ^= out[(i + 1) % n];
  } else if (v & 4) r = v / 7;
  else { r = v % 11; for (int k = 0; k < 5; k++) r = r * r + k; }
  out[n + i] = r;
}
extern "C" __global__ void switch_eight(const int *a, float *out, int n) {
  int i = X;
  if (i >= n) return;
  float v = (a[i] & 1023) + 1;
  switch (a[i] & 7) {
    case 0: out[i] = sqrtf(v); break;
    case 1: out[i] = v * v; break;
    case 2: out[i] = 1 / v;
    case 3: out[n + i] = v + 2; break;
    case 4: out[i] = sinf(v); break;
    case 5: for (int k = 0; k < 6; k++) v = v * .5f + 1; out[i] = v; break;
    case 6: return;
    default: out[i] = v > 500 ? v - 500 : v + 500;
  }
}
extern "C" __global__ void collatz(const int *a, int *steps, int n) {
  int i = X;
  if (i >= n) return;
  unsigned v = (a[i] & 1023) + 1, c = 0;
  while (v != 1) { v = v & 1 ? 3 * v + 1 : v / 2; c++; }
  steps[i] = c;
}
extern "C" __global__ void early_return(const float *a, float *out, int n) {
  int i = X;
  if (i >= n || a[i] < .3f) return;
  float v = a[i];
  for (int k = 0; k < 20; k++) { v = v * 1.5f - v * v; if (v < .45f) return; }
  out[i] = v;
}
extern "C" __global__ void search_break(const int *a, const int *key, int *place, int n, int keys) {
  int i = X;
  if (i >= keys) return;
  place[i] = -1;
  for (int k = 0; k < n; k++) if (a[k] == key[i]) { place[i] = k; break; }
}
extern "C" __global__ void binary_search(const int *a, const int *key, int *place, int n, int keys) {
  int i = X;
  if (i >= keys) return;
  int low = 0, high = n;
  while (low < high) { int m = (low + high) / 2; if (a[m] < key[i]) low = m + 1; else high = m; }
  place[i] = low;
}
extern "C" __global__ void newton(const float *a, float *root, int *rounds, int n) {
  int i = X;
  if (i >= n) return;
  float v = a[i] * 100 + 1, r = v;
  int k = 0;
  do { float next = .5f * (r + v / r); bool done = fabsf(next - r) < 1e-4f * r; r = next; k++; if (done) break; } while (k < 30);
  root[i] = r; rounds[i] = k;
}
__device__ __noinline__ float heavy(float v, int rounds) {
  for (int k = 0; k < rounds; k++) v = v * v - .5f;
  return v;
}
__device__ __noinline__ float light(float v) { return v * 2 + 1; }
extern "C" __global__ void calls(const float *a, float *out, int n) {
  int i = X;
  if (i < n) out[i] = a[i] > .5f ? heavy(a[i], 3 + (i & 3)) : light(a[i]);
}
extern "C" __global__ void mandelbrot(unsigned short *out, int w, int h) {
  int x = X, y = Y;
  if (x >= w || y >= h) return;
  float cx = -2 + 3.f * x / w, cy = -1 + 2.f * y / h, zx = 0, zy = 0;
  int k = 0;
  for (; k < 60 && zx * zx + zy * zy < 4; k++) { float t = zx * zx - zy * zy + cx; zy = 2 * zx * zy + cy; zx = t; }
  out[y * w + x] = k;
}
extern "C" __global__ void warp_roles(const float *a, float *out) {
  __shared__ float s[2][128];
  int t = threadIdx.x, w = t / 32, base = blockIdx.x * 1024;
  for (int k = 0; k <= 8; k++) {
    if (w < 4) { if (k < 8) s[k & 1][t] = a[base + k * 128 + t] * 2; }
    else if (k > 0) { float v = s[k - 1 & 1][t - 128]; out[base + (k - 1) * 128 + t - 128] = v * v + 1; }
    __syncthreads();
  }
}
// ---------------------------------------------------------------- lanes that exchange
extern "C" __global__ void warp_sum(const float *a, float *out) {
  float v = a[X];
  for (int d = 16; d; d /= 2) v += __shfl_down_sync(~0u, v, d);
  if (threadIdx.x % 32 == 0) out[X / 32] = v;
}
extern "C" __global__ void block_sum(const double *a, double *out, int n) {
  __shared__ double s[32];
  int t = threadIdx.x;
  double v = 0;
  for (int i = X; i < n; i += gridDim.x * blockDim.x) v += a[i];
  for (int d = 16; d; d /= 2) v += __shfl_xor_sync(~0u, v, d);
  if (t % 32 == 0) s[t / 32] = v;
  __syncthreads();
  if (t < 32) {
    v = t < blockDim.x / 32 ? s[t] : 0;
    for (int d = 16; d; d /= 2) v += __shfl_xor_sync(~0u, v, d);
    if (t == 0) out[blockIdx.x] = v;
  }
}
extern "C" __global__ void warp_scan(const int *a, int *out) {
  int lane = threadIdx.x & 31, v = a[X] & 1023;
  for (int d = 1; d < 32; d *= 2) { int u = __shfl_up_sync(~0u, v, d); if (lane >= d) v += u; }
  out[X] = v;
}
extern "C" __global__ void vote_compact(const float *a, float *kept, int *count) {
  int lane = threadIdx.x & 31, warp = X / 32;
  float v = a[X];
  unsigned m = __ballot_sync(~0u, v > .5f);
  if (v > .5f) kept[warp * 32 + __popc(m & (1u << lane) - 1)] = v;
  if (lane == 0) count[warp] = __popc(m);
}
extern "C" __global__ void match_lanes(const int *a, int *out) {
  int v = a[X] & 3;
  unsigned m = __match_any_sync(~0u, v);
  int all;
  unsigned same = __match_all_sync(~0u, v >> 2, &all);
  out[X] = __popc(m) + all + __reduce_add_sync(~0u, v) + (__any_sync(~0u, v == 3) ? 1 : 0) + (same == ~0u);
}
// ---------------------------------------------------------------- transpositions, scans, sorts
extern "C" __global__ void transpose_naive(const float *a, float *b, int n) { int x = X, y = Y; b[x * n + y] = a[y * n + x]; }
template <int P> __global__ void transpose_tile(const float *a, float *b, int n) {
  __shared__ float s[32][32 + P];
  int tx = threadIdx.x, ty = threadIdx.y, bx = blockIdx.x * 32, by = blockIdx.y * 32;
  for (int k = 0; k < 32; k += 8) s[ty + k][tx] = a[(by + ty + k) * n + bx + tx];
  __syncthreads();
  for (int k = 0; k < 32; k += 8) b[(bx + ty + k) * n + by + tx] = s[tx][ty + k];
}
extern "C" __global__ void scan_hillis(const int *a, int *b) {
  __shared__ int s[2][256];
  int t = threadIdx.x, in = 0;
  s[0][t] = a[X] & 255;
  __syncthreads();
  for (int d = 1; d < 256; d *= 2) {
    s[1 - in][t] = t >= d ? s[in][t] + s[in][t - d] : s[in][t];
    in = 1 - in;
    __syncthreads();
  }
  b[X] = s[in][t];
}
template <bool PAD> __device__ int place(int i) { return PAD ? i + i / 32 : i; }
template <bool PAD> __global__ void scan_blelloch(const float *a, float *b) {
  extern __shared__ float buffer[];
  int t = threadIdx.x, n = 2 * blockDim.x, base = blockIdx.x * n, d;
  buffer[place<PAD>(t)] = a[base + t]; buffer[place<PAD>(t + n / 2)] = a[base + t + n / 2];
  int step = 1;
  for (d = n / 2; d > 0; d /= 2, step *= 2) {
    __syncthreads();
    if (t < d) buffer[place<PAD>(step * (2 * t + 2) - 1)] += buffer[place<PAD>(step * (2 * t + 1) - 1)];
  }
  if (t == 0) buffer[place<PAD>(n - 1)] = 0;
  for (d = 1; d < n; d *= 2) {
    step /= 2;
    __syncthreads();
    if (t < d) {
      int i = place<PAD>(step * (2 * t + 1) - 1), j = place<PAD>(step * (2 * t + 2) - 1);
      float v = buffer[i]; buffer[i] = buffer[j]; buffer[j] += v;
    }
  }
  __syncthreads();
  b[base + t] = buffer[place<PAD>(t)]; b[base + t + n / 2] = buffer[place<PAD>(t + n / 2)];
}
extern "C" __global__ void bitonic(const int *a, int *b) {
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = a[X];
  for (int k = 2; k <= 256; k *= 2) for (int j = k / 2; j > 0; j /= 2) {
    __syncthreads();
    int o = t ^ j;
    if (o > t && (s[t] > s[o]) == ((t & k) == 0)) { int v = s[t]; s[t] = s[o]; s[o] = v; }
  }
  __syncthreads();
  b[X] = s[t];
}
// ---------------------------------------------------------------- indices, offsets, strides
template <typename T> __global__ void gather(const T *a, const int *index, T *b, int n) { int i = X; if (i < n) b[i] = a[index[i]]; }
extern "C" __global__ void scatter(const double *a, const int *index, double *b, int n) { int i = X; if (i < n) b[index[i]] = a[i]; }
extern "C" __global__ void offset_copy(const float *a, float *b, int from, int to, int n) { int i = X; if (i < n) b[i + to] = a[i + from]; }
template <int S> __global__ void stride_scale(const float *a, float *b, int n) {
  int i = X;
  if (i * S < n) b[i * S] = a[i * S] * 3;
}
extern "C" __global__ void reverse(const short *a, short *b, int n) { int i = X; if (i < n) b[n - 1 - i] = a[i]; }
extern "C" __global__ void grid_stride(const double *x, double *y, double a, int n) {
  for (int i = X; i < n; i += gridDim.x * blockDim.x) y[i] = a * x[i] + y[i];
}
extern "C" __global__ void broadcast_loads(const float *a, const float *k, float *b, int n) {
  int i = X;
  if (i < n) b[i] = a[i] * k[0] + k[blockIdx.x & 7] + k[8 + (threadIdx.x >> 4 & 1)];
}
template <int U> __global__ void invariant(const float *a, const float *k, float *b, int n) {
  int i = X;
  if (i >= n) return;
  float s = 0;
#pragma unroll U
  for (int j = 0; j < 16; j++) { s += a[(i + j) % n] * k[0]; b[i] = s; }
}
__constant__ float table[64] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, .5f, .25f, .125f};
extern "C" __global__ void constant_loads(const int *index, float *b, int n) {
  int i = X;
  if (i < n) b[i] = table[blockIdx.x & 15] + table[index[i]] * table[3];
}
// ---------------------------------------------------------------- arithmetic
template <typename T> __global__ void divide(const T *a, const T *b, T *c, int n) { int i = X; if (i < n) c[i] = a[i] / (b[i] + (T)1); }
extern "C" __global__ void roots(const float *a, float *b, double *d, int n) {
  int i = X;
  if (i >= n) return;
  b[i] = sqrtf(a[i]) + rsqrtf(a[i] + 1) + __fdividef(1.f, a[i] + 2);
  d[i] = sqrt((double)a[i]) + rsqrt(a[i] + 1.0);
}
extern "C" __global__ void transcend(const float *a, float *b, int n) {
  int i = X;
  if (i < n) b[i] = expf(a[i]) + sinf(a[i]) * logf(a[i] + 1) + powf(a[i] + .1f, 2.5f) + __expf(a[i]) + __sinf(a[i]) + tanhf(a[i]);
}
extern "C" __global__ void transcend_double(const double *a, double *b, int n) {
  int i = X;
  if (i < n) b[i] = exp(a[i]) + sin(a[i]) * log(a[i] + 1) + pow(a[i] + .1, 2.5);
}
template <typename T> __global__ void polynomial(const T *a, T *b, int n) {
  int i = X;
  if (i >= n) return;
  T x = a[i], r = 1;
#pragma unroll 4
  for (int k = 0; k < 24; k++) r = r * x + (T)k;
  b[i] = r - x * x + fma(x, r, x);
}
extern "C" __global__ void half_axpy(const __half *x, __half *y, int n) {
  int i = X;
  if (i < n) y[i] = __hfma(__float2half(2.f), x[i], __hadd(y[i], __hmul(x[i], x[i])));
}
extern "C" __global__ void half2_axpy(const __half2 *x, __half2 *y, int n) {
  int i = X;
  if (i < n) y[i] = __hfma2(__float2half2_rn(2.f), x[i], __hadd2(y[i], __hmul2(x[i], x[i])));
}
extern "C" __global__ void int_divide(const int *a, int *b, int d, int n) {
  int i = X;
  if (i < n) b[i] = a[i] / d + a[i] % (i % 17 + 1) + (unsigned)a[i] / 10;
}
extern "C" __global__ void wide_integers(const unsigned long long *a, unsigned long long *b, int n) {
  int i = X;
  if (i >= n) return;
  unsigned long long v = a[i];
  for (int k = 0; k < 8; k++) { v ^= v >> 12; v ^= v << 25; v ^= v >> 27; v *= 2685821657736338717ull; }
  b[i] = v + __umul64hi(v, a[i]) + __popcll(v) + __clzll(v);
}
extern "C" __global__ void conversions(const double *a, float *f, int *i4, unsigned char *u1, __half *h, int n) {
  int i = X;
  if (i >= n) return;
  f[i] = (float)a[i]; i4[i] = (int)(a[i] * 1000); u1[i] = (unsigned char)(a[i] * 255 + .5); h[i] = __double2half(a[i]);
}
extern "C" __global__ void black_scholes(const float *s, const float *k, const float *t, float *call, int n) {
  int i = X;
  if (i >= n) return;
  float S = 10 + s[i] * 90, K = 10 + k[i] * 90, T = .1f + t[i] * 5, q = .3f * sqrtf(T);
  float d1 = (logf(S / K) + (.02f + .045f) * T) / q, d2 = d1 - q;
  call[i] = S * normcdff(d1) - K * expf(-.02f * T) * normcdff(d2);
}
// ---------------------------------------------------------------- small applications
extern "C" __global__ void spmv_scalar(const int *row, const int *col, const float *val, const float *x, float *y, int n) {
  int r = X;
  if (r >= n) return;
  float s = 0;
  for (int k = row[r]; k < row[r + 1]; k++) s += val[k] * x[col[k]];
  y[r] = s;
}
extern "C" __global__ void spmv_vector(const int *row, const int *col, const float *val, const float *x, float *y, int n) {
  int lane = threadIdx.x & 31, r = X / 32;
  if (r >= n) return;
  float s = 0;
  for (int k = row[r] + lane; k < row[r + 1]; k += 32) s += val[k] * x[col[k]];
  for (int d = 16; d; d /= 2) s += __shfl_down_sync(~0u, s, d);
  if (lane == 0) y[r] = s;
}
extern "C" __global__ void nbody(const float4 *p, float4 *f, int n) {
  __shared__ float4 s[128];
  int t = threadIdx.x, i = X;
  float4 me = p[i], a = make_float4(0, 0, 0, 0);
  for (int b = 0; b < n; b += 128) {
    s[t] = p[b + t];
    __syncthreads();
    for (int k = 0; k < 128; k++) {
      float dx = s[k].x - me.x, dy = s[k].y - me.y, dz = s[k].z - me.z, r = rsqrtf(dx * dx + dy * dy + dz * dz + .01f);
      float w = s[k].w * r * r * r;
      a.x += dx * w; a.y += dy * w; a.z += dz * w;
    }
    __syncthreads();
  }
  f[i] = a;
}
extern "C" __global__ void matvec_thread(const float *m, const float *x, float *y, int rows, int n) {
  int r = X;
  if (r >= rows) return;
  float s = 0;
  for (int k = 0; k < n; k++) s += m[r * n + k] * x[k];
  y[r] = s;
}
extern "C" __global__ void matvec_block(const double *m, const double *x, double *y, int n) {
  extern __shared__ double part[];
  int t = threadIdx.x;
  double s = 0;
  for (int k = t; k < n; k += blockDim.x) s += m[blockIdx.x * n + k] * x[k];
  part[t] = s;
  __syncthreads();
  for (int d = blockDim.x / 2; d; d /= 2) { if (t < d) part[t] += part[t + d]; __syncthreads(); }
  if (t == 0) y[blockIdx.x] = part[0];
}
extern "C" __global__ void matmul_double(const double *a, const double *b, double *c, int n) {
  __shared__ double s[16][16], q[16][16];
  int tx = threadIdx.x, ty = threadIdx.y, x = X, y = Y;
  double v = 0;
  for (int p = 0; p < n; p += 16) {
    s[ty][tx] = a[y * n + p + tx]; q[ty][tx] = b[(p + ty) * n + x];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; k++) v += s[ty][k] * q[k][tx];
    __syncthreads();
  }
  c[y * n + x] = v;
}
extern "C" __global__ void matmul_four(const float *a, const float4 *b, float4 *c, int n) {
  int x = X, y = Y;
  float4 v = make_float4(0, 0, 0, 0);
  for (int k = 0; k < n; k++) {
    float m = a[y * n + k];
    float4 w = b[k * n / 4 + x];
    v.x += m * w.x; v.y += m * w.y; v.z += m * w.z; v.w += m * w.w;
  }
  c[y * n / 4 + x] = v;
}
extern "C" __global__ void monte_carlo(int *hits, int rounds) {
  unsigned s = X * 2654435761u + 12345;
  int in = 0;
  for (int k = 0; k < rounds; k++) {
    s = s * 1664525 + 1013904223; float x = (s >> 8) * 5.9604645e-8f;
    s = s * 1664525 + 1013904223; float y = (s >> 8) * 5.9604645e-8f;
    if (x * x + y * y < 1) in++;
  }
  hits[X] = in;
}
