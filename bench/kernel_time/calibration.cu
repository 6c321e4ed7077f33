// What calibrate.py measures a GPU with. Kernels that time themselves write the clocks of each warp's first lane:
// its start and its end. None of these is a kernel that the model is judged by.

typedef unsigned int u32;
typedef unsigned long long u64;

__device__ __forceinline__ long long now() {
    long long t;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory");
    return t;
}

extern "C" __global__ void empty() {}

// ---- streams of 4-, 8- and 16-byte elements, one element a thread and trip
template <class T> __device__ T plus(T a, T b) { return a + b; }
template <> __device__ float4 plus(float4 a, float4 b) {
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}
template <class T> __device__ bool odd(T a) { return a == T(12345); }
template <> __device__ bool odd(float4 a) { return a.x + a.y + a.z + a.w == 12345.0f; }
#define STREAMS(T, NAME)                                                                            \
    extern "C" __global__ void read_##NAME(const T *x, T *y, u32 n) {                               \
        u32 i = blockIdx.x * blockDim.x + threadIdx.x;                                              \
        T sum = {};                                                                                 \
        for (; i < n; i += gridDim.x * blockDim.x) sum = plus<T>(sum, x[i]);                        \
        if (odd<T>(sum)) y[0] = sum;                                                                \
    }                                                                                               \
    extern "C" __global__ void read4_##NAME(const T *x, T *y, u32 n) {                              \
        u32 i = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;               \
        T a = {}, b = {}, c = {}, d = {};                                                           \
        for (; i + 3 * step < n; i += 4 * step) {                                                   \
            a = plus<T>(a, x[i]), b = plus<T>(b, x[i + step]);                                      \
            c = plus<T>(c, x[i + 2 * step]), d = plus<T>(d, x[i + 3 * step]);                       \
        }                                                                                           \
        T sum = plus<T>(plus<T>(a, b), plus<T>(c, d));                                              \
        if (odd<T>(sum)) y[0] = sum;                                                                \
    }                                                                                               \
    extern "C" __global__ void copy_##NAME(const T *x, T *y, u32 n) {                               \
        for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = x[i]; \
    }                                                                                               \
    extern "C" __global__ void write_##NAME(const T *x, T *y, u32 n) {                              \
        T one = {};                                                                                 \
        for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = one; \
    }
STREAMS(float, f4)
STREAMS(double, f8)
STREAMS(float4, f16)

// ---- second level: every thread reads its own places of a small array again and again, past the first level
extern "C" __global__ void l2_read(const float4 *x, float4 *y, u32 n, u32 trips) {
    float4 sum = {};
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    for (u32 t = 0; t < trips; ++t, i += gridDim.x * blockDim.x) sum = plus<float4>(sum, __ldcg(x + i % n));
    if (odd<float4>(sum)) y[0] = sum;
}
extern "C" __global__ void l2_write(const float4 *x, float4 *y, u32 n, u32 trips) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    for (u32 t = 0; t < trips; ++t, i += gridDim.x * blockDim.x) __stcg(y + i % n, make_float4(t, 0, 0, 0));
}
// one sector for each lane
extern "C" __global__ void sectors_read(const float *x, float *y, u32 n, u32 trips, u32 stride) {
    float sum = 0;
    u32 i = (blockIdx.x * blockDim.x + threadIdx.x) * stride;
    for (u32 t = 0; t < trips; ++t, i += gridDim.x * blockDim.x * stride) sum += __ldcg(x + i % n);
    if (sum == 12345.0f) y[0] = sum;
}
extern "C" __global__ void gather(const u32 *x, u32 *y, u32 mask, u32 trips) {
    u32 i = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u, sum = 0;
    for (u32 t = 0; t < trips; ++t) {
        i = i * 1664525u + 1013904223u;
        sum += x[(i >> 3) & mask];
    }
    if (sum == 12345) y[0] = sum;
}
extern "C" __global__ void scatter(const u32 *x, u32 *y, u32 mask, u32 trips) {
    u32 i = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u;
    for (u32 t = 0; t < trips; ++t) {
        i = i * 1664525u + 1013904223u;
        y[(i >> 3) & mask] = t;
    }
}

// parts of sectors: lane after lane `stride` bytes apart, `parts` neighbouring elements of each place in turn
#define PARTS(T, NAME)                                                                                       \
    extern "C" __global__ void parts_##NAME(const T *x, T *y, u32 mask, u32 trips, u32 stride, u32 parts) {  \
        u32 at = (blockIdx.x * blockDim.x + threadIdx.x) * stride;                                           \
        T one = {};                                                                                          \
        for (u32 t = 0; t < trips; ++t, at += gridDim.x * blockDim.x * stride)                               \
            for (u32 k = 0; k < parts; ++k) __stcg((T *)((char *)y + (at & mask)) + k, one);                 \
    }
PARTS(float, f4)
PARTS(float2, f8)
PARTS(float4, f16)
// the same of a number of parts that is known, by ordinary stores
#define WHOLE(T, PARTS, NAME)                                                                                \
    extern "C" __global__ void whole_##NAME(const T *x, T *y, u32 mask, u32 trips, u32 stride) {             \
        u32 at = (blockIdx.x * blockDim.x + threadIdx.x) * stride;                                           \
        T one = {};                                                                                          \
        for (u32 t = 0; t < trips; ++t, at += gridDim.x * blockDim.x * stride) {                             \
            _Pragma("unroll") for (u32 k = 0; k < PARTS; ++k)                                                \
                *(volatile typename Word<T>::type *)((T *)((char *)y + (at & mask)) + k) = Word<T>::of(one); \
        }                                                                                                    \
    }
template <class T> struct Word;
template <> struct Word<float> {
    typedef float type;
    static __device__ float of(float a) { return a; }
};
template <> struct Word<float2> {
    typedef double type;
    static __device__ double of(float2 a) { return a.x; }
};
WHOLE(float, 1, f4_1)
WHOLE(float, 2, f4_2)
WHOLE(float, 4, f4_4)
WHOLE(float, 8, f4_8)
WHOLE(float2, 1, f8_1)
WHOLE(float2, 2, f8_2)
WHOLE(float2, 4, f8_4)
// halves of 64 bytes: of 2 * distance blocks, the first ones have the first halves and the others the second
// ones; distance 0 stands for first halves only
__device__ __forceinline__ u64 half_place(u32 distance, u32 trips, u32 t) {
    u64 block = blockIdx.x, half = 0;
    if (distance) {
        u32 group = block / (2 * distance), rest = block % (2 * distance);
        half = rest / distance, block = (u64)group * distance + rest % distance;
    }
    return ((block * trips + t) * blockDim.x + threadIdx.x) * 16 + 8 * half;
}
extern "C" __global__ void halves_read(const float *x, float *y, u32 distance) {
    float sum = 0;
#pragma unroll
    for (u32 t = 0; t < 4; ++t) sum += __ldcg(x + half_place(distance, 4, t));
    if (sum == 12345.0f) y[0] = sum;
}
extern "C" __global__ void halves_write(const float *x, float *y, u32 distance) {
#pragma unroll
    for (u32 t = 0; t < 4; ++t) {  // all of a sector
        float4 *place = (float4 *)(y + half_place(distance, 4, t));
        place[0] = place[1] = make_float4(t, 0, 0, 0);
    }
}

// ---- latencies: one lane follows a chain of places
#define CHASE(NAME, LOAD)                                                         \
    extern "C" __global__ void chase_##NAME(const u64 *x, long long *clocks, u32 trips) { \
        u64 at = x[0];                                                            \
        for (u32 t = 0; t < 64; ++t) at = LOAD;                                   \
        long long start = now();                                                  \
        for (u32 t = 0; t < trips; ++t) at = LOAD;                                \
        long long end = now();                                                    \
        clocks[0] = start, clocks[1] = end + (at == 12345);                       \
    }
CHASE(l1, __ldca(x + at))
CHASE(l2, __ldcg(x + at))
extern "C" __global__ void chase_shared(const u64 *x, long long *clocks, u32 trips) {
    __shared__ u64 s[512];
    for (u32 i = threadIdx.x; i < 512; i += blockDim.x) s[i] = (i + 33) % 512;
    __syncthreads();
    u64 at = threadIdx.x;
    long long start = now();
    for (u32 t = 0; t < trips; ++t) at = s[at];
    long long end = now();
    clocks[0] = start, clocks[1] = end + (at == 12345);
}

// ---- pipelines: chains of one instruction, 1 or 8 a thread; clocks tell latency and rate
#define CHAINS(NAME, T, C, START, ASM)                                                                    \
    extern "C" __global__ void one_##NAME(long long *clocks, u32 trips, u32 seed) {                       \
        T a = (T)(START);                                                                                 \
        T k = (T)(seed | 1);                                                                              \
        __syncthreads();                                                                                  \
        long long start = now();                                                                          \
        for (u32 t = 0; t < trips; ++t) {                                                                 \
            _Pragma("unroll") for (int i = 0; i < 16; ++i) asm volatile(ASM : "+" C(a) : C(k));           \
        }                                                                                                 \
        long long end = now();                                                                            \
        u32 w = (blockIdx.x * blockDim.x + threadIdx.x) / 32;                                             \
        clocks[2 * w] = start, clocks[2 * w + 1] = end + (a == (T)12345);                                 \
    }                                                                                                     \
    extern "C" __global__ void many_##NAME(long long *clocks, u32 trips, u32 seed) {                      \
        T a[8];                                                                                           \
        T k = (T)(seed | 1);                                                                              \
        for (int i = 0; i < 8; ++i) a[i] = (T)(START) + (T)i;                                             \
        __syncthreads();                                                                                  \
        long long start = now();                                                                          \
        for (u32 t = 0; t < trips; ++t) {                                                                 \
            _Pragma("unroll") for (int i = 0; i < 32; ++i) asm volatile(ASM : "+" C(a[i % 8]) : C(k));    \
        }                                                                                                 \
        long long end = now();                                                                            \
        u32 w = (blockIdx.x * blockDim.x + threadIdx.x) / 32;                                             \
        T sum = a[0] + a[1] + a[2] + a[3] + a[4] + a[5] + a[6] + a[7];                                    \
        clocks[2 * w] = start, clocks[2 * w + 1] = end + (sum == (T)12345);                               \
    }
CHAINS(ffma, float, "f", 1 + threadIdx.x, "fma.rn.f32 %0, %0, %1, %1;")
CHAINS(fadd, float, "f", 1 + threadIdx.x, "add.rn.f32 %0, %0, %1;")
CHAINS(dfma, double, "d", 1 + threadIdx.x, "fma.rn.f64 %0, %0, %1, %1;")
CHAINS(dadd, double, "d", 1 + threadIdx.x, "add.rn.f64 %0, %0, %1;")
CHAINS(iadd, u32, "r", 1 + threadIdx.x, "add.u32 %0, %0, %1;")
CHAINS(lop, u32, "r", 1 + threadIdx.x, "lop3.b32 %0, %0, %1, 0x5555, 0x96;")
CHAINS(shf, u32, "r", 1 + threadIdx.x, "shf.l.wrap.b32 %0, %0, %1, %0;")
CHAINS(imad, u32, "r", 1 + threadIdx.x, "mad.lo.u32 %0, %0, %1, %1;")
CHAINS(imadwide, u64, "l", 1 + threadIdx.x, "{.reg .u32 t; cvt.u32.u64 t, %0; mad.wide.u32 %0, t, t, %1;}")
CHAINS(popc, u32, "r", 1 + threadIdx.x, "popc.b32 %0, %0;")
CHAINS(mufu, float, "f", 1 + threadIdx.x, "{.reg .f32 t; ex2.approx.ftz.f32 %0, %0;}")
CHAINS(rsqrt, float, "f", 1 + threadIdx.x, "rsqrt.approx.ftz.f32 %0, %0;")
CHAINS(i2f, u32, "r", 1 + threadIdx.x, "{.reg .f32 t; cvt.rn.f32.u32 t, %0; mov.b32 %0, t;}")
CHAINS(f2i, u32, "r", 1 + threadIdx.x, "{.reg .f32 t; mov.b32 t, %0; cvt.rzi.u32.f32 %0, t;}")
CHAINS(f2d, double, "d", 1 + threadIdx.x, "{.reg .f32 t; cvt.rn.f32.f64 t, %0; cvt.f64.f32 %0, t;}")
CHAINS(hfma, u32, "r", 1 + threadIdx.x, "fma.rn.f16x2 %0, %0, %1, %1;")
CHAINS(shfl, u32, "r", 1 + threadIdx.x, "shfl.sync.bfly.b32 %0, %0, 1, 31, 0xffffffff;")
CHAINS(ballot, u32, "r", 1 + threadIdx.x,
       "{.reg .pred p; setp.ne.u32 p, %0, 7; vote.sync.ballot.b32 %0, p, 0xffffffff;}")
CHAINS(match, u32, "r", 1 + threadIdx.x, "match.any.sync.b32 %0, %0, 0xffffffff;")
CHAINS(redux, u32, "r", 1 + threadIdx.x, "redux.sync.add.u32 %0, %0, 0xffffffff;")
CHAINS(div, u32, "r", 1 + threadIdx.x, "div.u32 %0, %1, %0;")
CHAINS(bar, u32, "r", 1 + threadIdx.x, "bar.sync 0;")

// ---- tensor cores: products of one shape, of one accumulator or of four
#define TENSOR(NAME, T, NC, TEXT)                                                              \
    template <int N> __device__ __forceinline__ void tensor_##NAME(long long *clocks, u32 trips, u32 seed) { \
        T c[N][NC];                                                                                       \
        u64 a[4] = {seed, seed, seed, seed};                                                              \
        for (int k = 0; k < N; ++k)                                                                       \
            for (int i = 0; i < NC; ++i) c[k][i] = (T)(threadIdx.x + k);                                  \
        __syncthreads();                                                                                  \
        long long start = now();                                                                          \
        for (u32 t = 0; t < trips; ++t) {                                                                 \
            _Pragma("unroll") for (int i = 0; i < 16; ++i) TEXT(c[i % N], a);                             \
        }                                                                                                 \
        long long end = now();                                                                            \
        u32 w = (blockIdx.x * blockDim.x + threadIdx.x) / 32;                                             \
        T sum = 0;                                                                                        \
        for (int k = 0; k < N; ++k)                                                                       \
            for (int i = 0; i < NC; ++i) sum += c[k][i];                                                  \
        clocks[2 * w] = start, clocks[2 * w + 1] = end + (sum == (T)12345);                               \
    }                                                                                                     \
    extern "C" __global__ void one_##NAME(long long *c, u32 trips, u32 seed) { tensor_##NAME<1>(c, trips, seed); } \
    extern "C" __global__ void many_##NAME(long long *c, u32 trips, u32 seed) { tensor_##NAME<4>(c, trips, seed); }
#define MMA16(SHAPE, TYPES)                                                                        \
    asm volatile("mma.sync.aligned." SHAPE ".row.col." TYPES " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
#define MMA_F16(c, a)                                                                                 \
    MMA16("m16n8k16", "f32.f16.f16.f32")                                                            \
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                                              \
        : "r"((u32)a[0]), "r"((u32)a[1]), "r"((u32)a[2]), "r"((u32)a[3]), "r"((u32)a[0]), "r"((u32)a[1]))
#define MMA_TF32(c, a)                                                                                \
    MMA16("m16n8k8", "f32.tf32.tf32.f32")                                                           \
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                                              \
        : "r"((u32)a[0]), "r"((u32)a[1]), "r"((u32)a[2]), "r"((u32)a[3]), "r"((u32)a[0]), "r"((u32)a[1]))
#define MMA_S8(c, a)                                                                                  \
    MMA16("m16n8k32", "s32.s8.s8.s32")                                                              \
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])                                              \
        : "r"((u32)a[0]), "r"((u32)a[1]), "r"((u32)a[2]), "r"((u32)a[3]), "r"((u32)a[0]), "r"((u32)a[1]))
#define MMA_F16_HALF(c, a)                                                                            \
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};" \
        : "+r"(c[0]), "+r"(c[1])                                                                      \
        : "r"((u32)a[0]), "r"((u32)a[1]), "r"((u32)a[2]), "r"((u32)a[3]), "r"((u32)a[0]), "r"((u32)a[1]))
#define MMA_F16_8(c, a)                                                                               \
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};" \
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                                              \
        : "r"((u32)a[0]), "r"((u32)a[1]), "r"((u32)a[0]))
#define MMA_F64(c, a)                                                                                 \
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"      \
        : "+d"(c[0]), "+d"(c[1])                                                                      \
        : "d"(__longlong_as_double(a[0])), "d"(__longlong_as_double(a[1])))
TENSOR(mma_f16, float, 4, MMA_F16)
TENSOR(mma_f16_8, float, 4, MMA_F16_8)
TENSOR(mma_f16_half, u32, 2, MMA_F16_HALF)
TENSOR(mma_tf32, float, 4, MMA_TF32)
TENSOR(mma_s8, int, 4, MMA_S8)
TENSOR(mma_f64, double, 2, MMA_F64)

// ---- branches: a short loop, and one in which half of the lanes take a branch
extern "C" __global__ void short_loop(long long *clocks, u32 trips, u32 seed) {
    u32 a = threadIdx.x;
    __syncthreads();
    long long start = now();
#pragma unroll 1
    for (u32 t = 0; t < trips * 64; ++t) asm volatile("add.u32 %0, %0, %1;" : "+r"(a) : "r"(seed));
    long long end = now();
    u32 w = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    clocks[2 * w] = start, clocks[2 * w + 1] = end + (a == 12345);
}
extern "C" __global__ void split_loop(long long *clocks, u32 trips, u32 seed) {
    u32 a = threadIdx.x;
    __syncthreads();
    long long start = now();
#pragma unroll 1
    for (u32 t = 0; t < trips * 64; ++t) {
        if ((threadIdx.x ^ t) & 1) {
#pragma unroll
            for (int i = 0; i < 8; ++i) asm volatile("add.u32 %0, %0, %1;" : "+r"(a) : "r"(seed));
        } else {
#pragma unroll
            for (int i = 0; i < 8; ++i) asm volatile("xor.b32 %0, %0, %1;" : "+r"(a) : "r"(seed));
        }
    }
    long long end = now();
    u32 w = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    clocks[2 * w] = start, clocks[2 * w + 1] = end + (a == 12345);
}

// ---- shared memory: loads and stores of a warp whose lanes lie `stride` words apart
#define SHARED(NAME, T, BODY)                                                                     \
    extern "C" __global__ void shared_##NAME(long long *clocks, u32 trips, u32 stride) {          \
        extern __shared__ float4 raw[];                                                           \
        T *s = (T *)raw;                                                                          \
        u32 at = (threadIdx.x % 32 * stride) % (8192 / sizeof(T));                                \
        for (u32 i = threadIdx.x; i < 8192 / sizeof(T); i += blockDim.x) s[i] = T();              \
        T sum = {};                                                                               \
        __syncthreads();                                                                          \
        long long start = now();                                                                  \
        for (u32 t = 0; t < trips; ++t) {                                                         \
            _Pragma("unroll") for (int i = 0; i < 16; ++i) { BODY; }                              \
        }                                                                                         \
        long long end = now();                                                                    \
        u32 w = (blockIdx.x * blockDim.x + threadIdx.x) / 32;                                     \
        clocks[2 * w] = start, clocks[2 * w + 1] = end + odd<T>(sum);                             \
    }
SHARED(load4, float, sum = plus<float>(sum, *(volatile float *)(s + at)))
SHARED(load8, double, sum = plus<double>(sum, *(volatile double *)(s + at)))
SHARED(store4, float, *(volatile float *)(s + at) = 1.0f)
SHARED(atomic, u32, atomicAdd(s + at, t | 1))
SHARED(atomic_used, u32, sum += atomicAdd(s + at, t | 1))
SHARED(atomic_float, float, atomicAdd(s + at, 1.0f))

// the same for loads of which `same` lanes in a row want one place, and those `distinct` places in turn
#define SHARED_TOGETHER(NAME, T)                                                                  \
    extern "C" __global__ void together_##NAME(long long *clocks, u32 trips, u32 same, u32 distinct) { \
        __shared__ T s[1024];                                                                     \
        u32 at = threadIdx.x % 32 / same % distinct;                                              \
        for (u32 i = threadIdx.x; i < 1024; i += blockDim.x) s[i] = T();                          \
        T sum = {};                                                                               \
        __syncthreads();                                                                          \
        long long start = now();                                                                  \
        for (u32 t = 0; t < trips; ++t) {                                                         \
            _Pragma("unroll") for (int i = 0; i < 16; ++i) sum = plus<T>(sum, loaded(s + at + 32 * i)); \
        }                                                                                         \
        long long end = now();                                                                    \
        u32 w = (blockIdx.x * blockDim.x + threadIdx.x) / 32;                                     \
        clocks[2 * w] = start, clocks[2 * w + 1] = end + odd<T>(sum);                             \
    }
template <class T> __device__ __forceinline__ T loaded(const T *place) { return *(const volatile T *)place; }
template <> __device__ __forceinline__ float4 loaded(const float4 *place) {
    float4 v;
    u32 at = (u32)__cvta_generic_to_shared(place);
    asm volatile("ld.volatile.shared.v4.f32 {%0,%1,%2,%3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "r"(at));
    return v;
}
SHARED_TOGETHER(4, float)
SHARED_TOGETHER(8, double)
SHARED_TOGETHER(16, float4)

// ---- first level: a block reads the same few lines; lanes lie `stride` words apart
extern "C" __global__ void l1_read(const float *x, long long *clocks, u32 trips, u32 stride) {
    const float *mine = x + threadIdx.x % 32 * stride;
    float sum = 0;
    for (int i = 0; i < 4; ++i) sum += __ldca(mine + 1024 * i);
    __syncthreads();
    long long start = now();
    for (u32 t = 0; t < trips; ++t) {
#pragma unroll
        for (int i = 0; i < 16; ++i) {
            float v;
            asm volatile("ld.global.ca.f32 %0, [%1];" : "=f"(v) : "l"(mine + 1024 * ((i + t) % 4)) : "memory");
            sum += v;
        }
    }
    long long end = now();
    u32 w = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    clocks[2 * w] = start, clocks[2 * w + 1] = end + (sum == 12345.0f);
}

// ---- atomics in global memory: thread i of all updates place (i * spread) % places
#define ATOMICS(NAME, T)                                                                          \
    extern "C" __global__ void add_##NAME(T *x, u32 places, u32 spread, u32 trips) {              \
        u32 i = blockIdx.x * blockDim.x + threadIdx.x;                                            \
        for (u32 t = 0; t < trips; ++t) atomicAdd(x + (i * spread + t * 97) % places, (T)(i | 1)); \
    }                                                                                             \
    extern "C" __global__ void take_##NAME(T *x, u32 places, u32 spread, u32 trips) {             \
        u32 i = blockIdx.x * blockDim.x + threadIdx.x;                                            \
        T sum = 0;                                                                                \
        for (u32 t = 0; t < trips; ++t) sum += atomicAdd(x + (i * spread + t * 97) % places, (T)(i | 1)); \
        if (sum == (T)12345) x[0] = 0;                                                            \
    }
ATOMICS(i4, u32)
ATOMICS(i8, u64)
ATOMICS(f4, float)
ATOMICS(f8, double)
extern "C" __global__ void cas_i4(u32 *x, u32 places, u32 spread, u32 trips) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    for (u32 t = 0; t < trips; ++t) atomicCAS(x + (i * spread + t * 97) % places, t, i);
}

// ---- how long blocks take to come and go
extern "C" __global__ void short_block(u32 *x) {
    if (threadIdx.x == 2000) x[0] = 1;
}
extern "C" __global__ void clock_rate(long long *clocks, u32 trips) {
    u64 t0, t1;
    float a = threadIdx.x;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t0));
    long long start = now();
    for (u32 t = 0; t < trips; ++t) asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(a));
    long long end = now();
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t1));
    if (threadIdx.x == 0 && blockIdx.x == 0) clocks[0] = end - start + (a == 12345.0f), clocks[1] = t1 - t0;
}
