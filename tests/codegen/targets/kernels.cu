// What depends on the processor: arithmetic without an instruction of its own, vectors wider than the registers,
// masks, exchange between lanes, atomics. Inputs are any bits; n is a multiple of the block.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void singles(float *out, const float *x, const float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float a = x[i], b = y[i], c = x[n - 1 - i];
  out[i] = fmaf(a, b, c);
  out[n + i] = __fmaf_rz(a, b, c);
  out[2 * n + i] = a / b + sqrtf(fabsf(c));
  out[3 * n + i] = fminf(a, b) + rintf(c);
  out[4 * n + i] = __expf(a) + __logf(fabsf(b)) + __sinf(c);
  out[5 * n + i] = floorf(a) + (float)(int)b + (float)(unsigned long long)fabsf(c);
}

extern "C" __global__ void doubles(double *out, const double *x, const double *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  double a = x[i], b = y[i], c = x[n - 1 - i];
  out[i] = fma(a, b, c);
  out[n + i] = __dadd_rd(a, b) + __dmul_ru(b, c);
  out[2 * n + i] = a / b + sqrt(fabs(c));
  out[3 * n + i] = fmax(a, b) + ceil(c);
  out[4 * n + i] = (double)(float)a + (double)(long long)b;
}

extern "C" __global__ void halves(unsigned short *out, const unsigned short *x, const unsigned short *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  __half a = __ushort_as_half(x[i]), b = __ushort_as_half(y[i]);
  __nv_bfloat16 c = __ushort_as_bfloat16(x[i]), d = __ushort_as_bfloat16(y[i]);
  out[i] = __half_as_ushort(__hfma(a, b, a));
  out[n + i] = __half_as_ushort(__float2half_rn(__half2float(a) * 3.1f));
  out[2 * n + i] = __bfloat16_as_ushort(__hfma(c, d, c));
  out[3 * n + i] = __half_as_ushort(__hmax(a, b));
}

extern "C" __global__ void integers(unsigned *out, const unsigned *x, const unsigned *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned a = x[i], b = y[i] | 1;
  unsigned long long wide = (unsigned long long)a * b + n;
  out[i] = a / b + a % (unsigned)n + (unsigned)((int)a / (n + 3)) + (unsigned)((int)b % (int)(a | 1));
  out[n + i] = (unsigned)(wide / (b | 3)) + __umulhi(a, b) + __popc(a) + __clz(b) + __brev(a);
  out[2 * n + i] = __funnelshift_l(a, b, a) + __byte_perm(a, b, a & 0x7777) + __dp4a(a, b, a) + __vaddus4(a, b);
  out[3 * n + i] = (unsigned)((long long)wide >> (a & 63)) + __sad((int)a, (int)b, a) + __ffs(a);
}

extern "C" __global__ void bytes(unsigned char *out, const unsigned char *x, const int *at, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  const uchar4 four = ((const uchar4 *)x)[i % (n / 4)];
  out[i] = x[at[i]] + x[(i * 3) % n] + four.x + four.w;
  if (at[i] & 1) out[n + at[i]] = x[i];
}

extern "C" __global__ void together(int *out, const int *x, int n) {
  __shared__ int part[96];
  __shared__ unsigned bins[16];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  part[t] = x[i];
  if (t < 16) bins[t] = 0;
  __syncthreads();
  for (int s = 1; s < 96; s *= 2) {
    int add = t >= s ? part[t - s] : 0;
    __syncthreads();
    if (t % (2 * s) != 1) part[t] += add;
    __syncthreads();
  }
  atomicAdd(&bins[part[t] & 15], part[t] & 3);
  int sum = __reduce_add_sync(0xffffffff, part[t]) + __shfl_xor_sync(0xffffffff, part[t], 5);
  sum += __ballot_sync(0xffffffff, part[t] & 1) + __popc(__match_any_sync(0xffffffff, part[t] & 7));
  __syncthreads();
  out[i] = sum + bins[t & 15];
  atomicMax(&out[n], part[t]);
  atomicAdd(&out[n + 1 + (part[t] & 3)], 1);
}

extern "C" __global__ void divergent(unsigned long long *out, const unsigned *x, float *sum, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned long long a = x[i] % 1000 + 1, steps = 0;
  unsigned sorted[7];
  while (a != 1 && steps < 200) {
    a = a % 2 ? 3 * a + 1 : a / 2;
    sorted[steps++ % 7] = (unsigned)a;
  }
  unsigned low = 0;
  for (int k = 0; k < 7 && k < steps; k++) low = low * 31 + sorted[(x[i] + k) % 7 % (steps < 7 ? steps : 7)];
  out[i] = steps << 32 | low;
  atomicAdd(sum, (float)steps * 0.1f);
}

extern "C" __global__ void ragged(double *out, float *least, const double *x, const int *at, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  double sum = 0;
  float product = 1;
  for (int k = i / 2; k < i / 2 + at[i] % 60; k++) sum = sum * 0.5 + x[at[k]];
  for (int k = i / 3; k < i / 3 + at[i] % 7; k++) product = product * 0.75f + (float)at[at[k]];
  out[i] = sum;
  least[i] = product;
}
