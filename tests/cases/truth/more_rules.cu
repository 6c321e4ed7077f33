// Truth kernels for address rules: one access of one warp each, at the places that an index array gives.
// A negative index leaves the lane out. more_rules.json lists the patterns. Shared arrays are filled by
// conflict-free 4-byte stores first: 32 of them.
#include <cuda_fp16.h>
__device__ __forceinline__ unsigned address_of(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void fill(int *s) {
  for (int k = 0; k < 32; k++) ((volatile int *)s)[k * 32 + threadIdx.x] = k * 32 + threadIdx.x;
  __syncwarp();
}
template <typename T> struct Parts;
template <> struct Parts<float> { static __device__ float of(float v) { return v; } };
template <> struct Parts<float2> { static __device__ float of(float2 v) { return v.x + v.y; } };
template <> struct Parts<float4> { static __device__ float of(float4 v) { return v.x + v.y + v.z + v.w; } };
template <> struct Parts<double> { static __device__ float of(double v) { return (float)v; } };
template <> struct Parts<unsigned char> { static __device__ float of(unsigned char v) { return v; } };
template <> struct Parts<short> { static __device__ float of(short v) { return v; } };
// Loads and stores; indices count elements of T.
template <typename T> __global__ void lds(const int *index, float *out) {
  __shared__ __align__(16) int s[1024];
  int t = threadIdx.x, i = index[t];
  fill(s);
  if (i >= 0) out[t] = Parts<T>::of(((volatile T *)s)[i]);
}
template <> __global__ void lds<float2>(const int *index, float *out) {
  __shared__ __align__(16) int s[1024];
  int t = threadIdx.x, i = index[t], x, y;
  fill(s);
  if (i < 0) return;
  asm volatile("ld.volatile.shared.v2.b32 {%0, %1}, [%2];" : "=r"(x), "=r"(y) : "r"(address_of(s + 2 * i)));
  out[t] = x + y;
}
template <> __global__ void lds<float4>(const int *index, float *out) {
  __shared__ __align__(16) int s[1024];
  int t = threadIdx.x, i = index[t], x, y, z, w;
  fill(s);
  if (i < 0) return;
  asm volatile("ld.volatile.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(x), "=r"(y), "=r"(z), "=r"(w) : "r"(address_of(s + 4 * i)));
  out[t] = x + y + z + w;
}
template <int W> __global__ void sts(const int *index, int *out) {
  __shared__ __align__(16) int s[1024];
  int t = threadIdx.x, i = index[t];
  fill(s);
  unsigned p = address_of(s) + W * i;
  if (i >= 0) {
    if (W == 1) asm volatile("st.volatile.shared.u8 [%0], %1;" ::"r"(p), "r"(t));
    if (W == 2) asm volatile("st.volatile.shared.u16 [%0], %1;" ::"r"(p), "h"((short)t));
    if (W == 4) asm volatile("st.volatile.shared.u32 [%0], %1;" ::"r"(p), "r"(t));
    if (W == 8) asm volatile("st.volatile.shared.v2.b32 [%0], {%1, %1};" ::"r"(p), "r"(t));
    if (W == 16) asm volatile("st.volatile.shared.v4.b32 [%0], {%1, %1, %1, %1};" ::"r"(p), "r"(t));
  }
  __syncwarp();
  out[t] = s[t] != t;
}
template <typename T> __global__ void ldg(const int *index, const T *a, float *out) {
  int t = threadIdx.x, i = index[t];
  if (i >= 0) out[t] = Parts<T>::of(a[i]);
}
template <typename T> __global__ void stg(const int *index, T *a) {
  int i = index[threadIdx.x];
  T v = {};
  if (i >= 0) a[i] = v;
}
extern "C" __global__ void ldg_volatile(const int *index, const int *a, int *out) {
  int t = threadIdx.x, i = index[t];
  if (i >= 0) out[t] = ((const volatile int *)a)[i];
}
// Atomics.
extern "C" __global__ void red_int(const int *index, int *a) {
  int i = index[threadIdx.x];
  if (i >= 0) atomicAdd(a + i, (int)threadIdx.x + 1);
}
extern "C" __global__ void atom_int(const int *index, int *a, int *out) {
  int t = threadIdx.x, i = index[t];
  if (i >= 0) out[t] = atomicAdd(a + i, 0) * 0 + 1 + (atomicAdd(a + i, t + 1) > 1 << 30);
}
extern "C" __global__ void red_float(const int *index, float *a) {
  int i = index[threadIdx.x];
  if (i >= 0) atomicAdd(a + i, 1.f);
}
extern "C" __global__ void red_double(const int *index, double *a) {
  int i = index[threadIdx.x];
  if (i >= 0) atomicAdd(a + i, 1.);
}
extern "C" __global__ void cas_long(const int *index, unsigned long long *a, unsigned long long *out) {
  int t = threadIdx.x, i = index[t];
  if (i >= 0) out[t] = atomicCAS(a + i, 77ull, 5ull);
}
extern "C" __global__ void atoms_int(const int *index, int *out) {
  __shared__ int s[1024];
  int t = threadIdx.x, i = index[t];
  fill(s);
  if (i >= 0) atomicAdd(s + i, t + 1);
  __syncwarp();
  out[t] = s[t] + s[32 + t];
}
extern "C" __global__ void atoms_one(const int *index, int *out) {
  __shared__ int s[1024];
  int t = threadIdx.x, i = index[t];
  fill(s);
  if (i >= 0) atomicAdd(s + i, 1);
  __syncwarp();
  out[t] = s[t] + s[32 + t];
}
extern "C" __global__ void atoms_result(const int *index, int *out) {
  __shared__ int s[1024];
  int t = threadIdx.x, i = index[t], old = 0;
  fill(s);
  if (i >= 0) old = atomicMax(s + i, t);
  out[t] = old >= 0;
}
extern "C" __global__ void atoms_cas(const int *index, int *out) {
  __shared__ int s[1024];
  int t = threadIdx.x, i = index[t], old = 0;
  fill(s);
  if (i >= 0) old = atomicCAS(s + i, -1, t);
  out[t] = old;
}
extern "C" __global__ void atoms_float(const int *index, float *out) {
  __shared__ int s[1024];
  int t = threadIdx.x, i = index[t];
  fill(s);
  if (i >= 0) atomicAdd((float *)s + i, 1.f);
  __syncwarp();
  out[t] = ((float *)s)[t];
}
// Local memory: arrays that volatile keeps there, at an index of its elements for each lane.
template <typename T> __global__ void local(const int *index, float *out) {
  volatile T v[32];
  int t = threadIdx.x, i = index[t];
#pragma unroll 1
  for (int k = 0; k < 32; k++) v[k] = k;
  if (i >= 0) out[t] = v[i];
}
extern "C" __global__ void local_vector(const int *index, float *out) {
  int4 v[16];
  int t = threadIdx.x, i = index[t];
#pragma unroll 1
  for (int k = 0; k < 16; k++) v[k] = make_int4(k, k + t, k, k);
  int4 w = i >= 0 ? v[i & 15] : make_int4(0, 0, 0, 0);
  out[t] = w.x + w.y + w.z + w.w;
}
// Other ways to memory.
__constant__ int numbers[1024] = {3, 1, 4, 1, 5, 9, 2, 6};
extern "C" __global__ void ldc(const int *index, int *out) {
  int t = threadIdx.x, i = index[t];
  if (i >= 0) out[t] = numbers[i];
}
extern "C" __global__ void generic(const int *index, const int *a, int *out, int which) {
  __shared__ int s[1024];
  int t = threadIdx.x, i = index[t];
  fill(s);
  const volatile int *p = (which >> t & 1) ? s : a;
  if (i >= 0) out[t] = p[i];
}
template <int W> __global__ void ldgsts(const int *from, const int *to, const char *a, int *out) {
  __shared__ __align__(16) int s[1024];
  int t = threadIdx.x, i = from[t], j = to[t];
  fill(s);
  if (i >= 0) asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(address_of(s) + W * j), "l"(a + W * i), "n"(W));
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncwarp();
  out[t] = s[t];
}
extern "C" __global__ void ldgsts_bypass(const int *from, const int *to, const char *a, int *out) {
  __shared__ __align__(16) int s[1024];
  int t = threadIdx.x, i = from[t], j = to[t];
  fill(s);
  if (i >= 0) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address_of(s) + 16 * j), "l"(a + 16 * i));
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncwarp();
  out[t] = s[t];
}
template <int N> __global__ void ldmatrix(const int *index, int *out) {
  __shared__ __align__(16) int s[1024];
  int t = threadIdx.x, x, y = 0, z = 0, w = 0;
  fill(s);
  unsigned p = address_of(s + 4 * index[t]);
  if (N == 1) asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(x) : "r"(p));
  if (N == 2) asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(x), "=r"(y) : "r"(p));
  if (N == 4)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(x), "=r"(y), "=r"(z), "=r"(w) : "r"(p));
  out[t] = x ^ y ^ z ^ w;
}
