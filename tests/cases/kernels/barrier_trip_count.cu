// How often a thread comes to the barrier depends on its own data, so the barriers of a warp do not match.
// launch: grid=1 block=64 args=i4[64]:arange,out:i4[64]
extern "C" __global__ void barrier_trip_count(const int *x, int *y) {
    __shared__ int s[64];
    int t = threadIdx.x, sum = 0;
    int rounds = BUGGY ? 1 + x[t] % 3 : 3;
    for (int i = 0; i < rounds; i++) {
        sum += x[(t + i) % 64];
        __syncthreads();  // BUG: barrier-divergence
    }
    s[t] = sum;
    __syncthreads();  // OTHER
    y[t] = s[63 - t];
}
