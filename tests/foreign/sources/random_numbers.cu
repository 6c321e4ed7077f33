// cuRAND's device functions: every generator, every distribution.
#include <curand_kernel.h>

template <typename State> __device__ void start(State *state, unsigned long long seed)
{
    curand_init(seed, threadIdx.x, blockIdx.x, state);
}

template <typename State> __global__ void seed(State *states, unsigned long long seed)
{
    start(states + blockIdx.x * blockDim.x + threadIdx.x, seed);
}

template <typename State> __global__ void uniforms(State *states, float *out, double *more, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    State state = states[i];
    float sum = 0;
    double total = 0;
    for (int k = 0; k < n; ++k) sum += curand_uniform(&state), total += curand_uniform_double(&state);
    out[i] = sum, more[i] = total;
    states[i] = state;
}

template <typename State> __global__ void normals(State *states, float *out, double *more, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    State state = states[i];
    float sum = 0;
    double total = 0;
    for (int k = 0; k < n; ++k) {
        sum += curand_normal(&state) + curand_log_normal(&state, 0.5f, 2.0f);
        total += curand_normal_double(&state);
    }
    out[i] = sum, more[i] = total;
    states[i] = state;
}

template <typename State> __global__ void poissons(State *states, unsigned *out, double rate)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    State state = states[i];
    out[i] = curand_poisson(&state, rate);
    states[i] = state;
}

template <typename State> __global__ void skipped(State *states, unsigned *out, unsigned long long n)
{
    State state = states[threadIdx.x];
    skipahead(n, &state);
    out[threadIdx.x] = curand(&state);
}

#define EACH(S)                                                                                                        \
    template __global__ void seed<S>(S *, unsigned long long);                                                         \
    template __global__ void uniforms<S>(S *, float *, double *, int);                                                 \
    template __global__ void normals<S>(S *, float *, double *, int);                                                  \
    template __global__ void poissons<S>(S *, unsigned *, double);                                                     \
    template __global__ void skipped<S>(S *, unsigned *, unsigned long long);
EACH(curandStateXORWOW_t)
EACH(curandStateMRG32k3a_t)
EACH(curandStatePhilox4_32_10_t)
