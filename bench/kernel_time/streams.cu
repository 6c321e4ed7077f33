// What streams.py models: a thread for every element, as gpu-benches has them.
typedef unsigned long long u64;

#define PLACE                                                 \
    const u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; \
    if (i >= n) return

extern "C" __global__ void init(double *a, const double *, const double *, u64 n) {
    PLACE;
    a[i] = 0.25;
}
extern "C" __global__ void read(double *a, const double *__restrict__ b, const double *, u64 n) {
    PLACE;
    const double value = b[i];
    if (value == 123.0) a[i] = value;
}
extern "C" __global__ void scale(double *a, const double *__restrict__ b, const double *, u64 n) {
    PLACE;
    a[i] = b[i] * 1.2;
}
extern "C" __global__ void triad(double *a, const double *__restrict__ b, const double *__restrict__ c, u64 n) {
    PLACE;
    a[i] = b[i] * 1.2 + c[i];
}
