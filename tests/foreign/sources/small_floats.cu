// Halves, bfloat16, their pairs, fp8, and double precision's functions, unrolled.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

template <typename T, int N> __global__ void polynomial(const T *x, T *y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    T at = x[i], sum = at;
#pragma unroll
    for (int k = 0; k < N; ++k) sum = __hfma2(sum, at, x[(i + k) % 64]);
    y[i] = __hmax2(__hmul2(sum, h2exp(at)), __hadd2(at, h2rsqrt(sum)));
}

template <typename T, int N> __global__ void one_by_one(const T *x, T *y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    T at = x[i], sum = at;
#pragma unroll
    for (int k = 0; k < N; ++k) sum = sum * at + x[(i + k) % 64];
    y[i] = __hmin(hsin(sum), hexp(at)) / (at + hlog(sum));
}

template <typename F8> __global__ void eighths(const F8 *x, F8 *y, float *z)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    z[i] = float(x[i]) * 2.0f;
    y[i] = F8(z[i] + float(x[i + 1]));
}

template <typename T, int N> __global__ void functions(T *x)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    T at = x[i];
#pragma unroll
    for (int k = 0; k < N; ++k) {
        at = sin(at) + exp(at / T(3)) * log(at * at + T(1));
        at = pow(at, T(0.75)) + sqrt(at + T(2)) / (T(1) + erf(at));
    }
    x[i] = at + tgamma(at) + T(fmod(at, T(0.3)));
}

// A system of N equations by elimination, all in registers.
template <typename T, int N> __global__ void eliminate(const T *a, T *x)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    T m[N][N + 1];
#pragma unroll
    for (int r = 0; r < N; ++r)
#pragma unroll
        for (int c = 0; c <= N; ++c) m[r][c] = a[(r * (N + 1) + c) * 64 + i % 64];
#pragma unroll
    for (int p = 0; p < N; ++p)
#pragma unroll
        for (int r = 0; r < N; ++r)
            if (r != p) {
                const T factor = m[r][p] / m[p][p];
#pragma unroll
                for (int c = p; c <= N; ++c) m[r][c] -= factor * m[p][c];
            }
#pragma unroll
    for (int r = 0; r < N; ++r) x[r * 64 + i % 64] = m[r][N] / m[r][r];
}

template __global__ void polynomial<__half2, 4>(const __half2 *, __half2 *);
template __global__ void polynomial<__half2, 64>(const __half2 *, __half2 *);
template __global__ void polynomial<__nv_bfloat162, 32>(const __nv_bfloat162 *, __nv_bfloat162 *);
template __global__ void one_by_one<__half, 16>(const __half *, __half *);
template __global__ void one_by_one<__nv_bfloat16, 16>(const __nv_bfloat16 *, __nv_bfloat16 *);
template __global__ void eighths<__nv_fp8_e4m3>(const __nv_fp8_e4m3 *, __nv_fp8_e4m3 *, float *);
template __global__ void eighths<__nv_fp8_e5m2>(const __nv_fp8_e5m2 *, __nv_fp8_e5m2 *, float *);
template __global__ void functions<float, 2>(float *);
template __global__ void functions<double, 1>(double *);
template __global__ void functions<double, 4>(double *);
template __global__ void eliminate<float, 6>(const float *, float *);
template __global__ void eliminate<double, 6>(const double *, double *);
template __global__ void eliminate<double, 10>(const double *, double *);
