// A kernel that becomes as many different machine operations as possible; it is only disassembled.
#include <cuda_fp16.h>

__device__ __noinline__ float callee(float a, float b) { return a / b + sqrtf(a); }

extern "C" __global__ void k(float *x, double *d, int *n, unsigned long long *u, int m, void *generic) {
  __shared__ float s[256];
  __shared__ int h[64];
  __shared__ unsigned long long wide[64];
  int i = threadIdx.x + blockIdx.x * blockDim.x, *g = (int *)generic;
  float a = x[i];
  double q = d[i];
  for (int j = 0; j < n[i]; j++) a = callee(a, q);
  if (a > 3.f) {
    for (int j = 0; j < m; j++) { if (x[i + j] < 0) break; a += x[i + j]; }
  } else {
    q = sin(q / a) + sqrt(q);
    a = expf(a) + logf(a) + powf(a, 3.3f);
  }
  switch (m) {
    case 0: a *= 2; x[1] = a; break;
    case 1: a += 7; x[2] = a; break;
    case 2: a = a * a; break;
    case 3: a = a / 3; break;
    case 4: a = -a; x[4] = a; break;
    case 5: a = rsqrtf(a); x[5] = a; break;
    case 6: x[8] = 2 * a; break;
  }
  // Atomic operations, whose results are wanted or not.
  x[i + 1] = atomicAdd(x + i + 2, a); atomicAdd(x + 3, a); atomicAdd(n, 1); atomicAdd(d + i, q);
  n[i + 4] = atomicExch(n + i + 99, m); u[i] = atomicCAS(u + i + 3, 4, m); atomicMax(n + i + 8, m + i);
  atomicAdd(&s[i & 255], a); atomicAdd(&h[i & 63], 1); atomicAdd(&wide[i & 7], u[i]); atomicInc((unsigned *)&h[2], 7);
  n[i + 2] = atomicCAS(&h[i & 7], m, i); n[i + 3] = atomicExch(&h[i & 9], m);
  g[i] = g[i + 1] + 1; atomicAdd(g + i + 2, 1); n[i + 5] = atomicCAS(g + i + 7, 2, 3);
  // Warps and barriers.
  a += __shfl_xor_sync(~0u, a, 3) + __shfl_down_sync(0xff, a, 2);
  n[i] = __ballot_sync(~0u, n[i] > 3) + __any_sync(~0u, m > i) + __match_any_sync(~0u, n[i]) + __activemask();
  n[i + 6] = __syncthreads_or(n[i]) + __syncthreads_count(n[i + 1]);
  __syncwarp(); __threadfence(); __threadfence_system();
  asm volatile("bar.sync 1, 64; bar.arrive 2, 64; nanosleep.u32 100; prefetch.global.L2 [%0];" ::"l"(x));
  // Integers, bits and conversions.
  n[i + 7] = (n[i] / m) % 7 + __popc(m) + __clz(m) + __brev(n[i]) + __dp4a(n[i], m, 3) + __vabsdiffu4(n[i], m) +
             __byte_perm(n[i], m, 33) + __funnelshift_l(n[i], m, 3) + (int)d[i] + (int)x[i] + min(n[i], m);
  u[i + 3] = __umul64hi(u[i], u[i + 1]) + u[i] * u[i + 7] + u[i] / u[i + 1] + (long long)d[i + 5] + clock64();
  d[i + 1] = fmin(d[i], d[i + 1]) + rint(d[i + 4]) + (double)n[i] + (double)x[i] + (double)u[i];
  x[i + 9] = fminf(x[i], a) + fabsf(a) + rintf(a) + __saturatef(a) + (float)u[i] + (float)n[i] + (float)d[i];
  half2 p = __float2half2_rn(a);
  p = __hadd2(__hmul2(p, p), p);
  ((half2 *)x)[i + 900] = p;
  // Widths.
  *(float4 *)(x + 4 * i + 64) = *(float4 *)(x + 4 * i);
  *(double2 *)(d + 2 * i + 44) = *(double2 *)(d + 2 * i);
  ((char *)x)[i] = ((short *)x)[i + 3];
  ((signed char *)s)[i] = ((unsigned short *)s)[i];
  double local[10];
  for (int j = 0; j < 10; j++) local[j] = d[j * m + i];
  for (int j = 0; j < m; j++) local[n[j] & 7] += local[(n[j] + 3) & 7];
  d[i + 70] = local[m & 7] + a + q;
  if (m == 7) __trap();
  if (m == 8) asm volatile("brkpt;");
}
