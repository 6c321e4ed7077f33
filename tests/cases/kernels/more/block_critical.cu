// A whole block works under a lock that thread 0 takes and gives back; barriers hand the right on to the others.
// launch: grid=3 block=64 args=i4[1],f4[64],f4[192]:rand
extern "C" __global__ void block_critical(int *lock, float *sum, const float *x) {
    int t = threadIdx.x;
    if (t == 0) { while (atomicCAS(lock, 0, 1) != 0) {} __threadfence(); }
    if (!BUGGY) __syncthreads();
    sum[t] += x[blockIdx.x * 64 + t];  // BUG: global-race
    __syncthreads();
    if (t == 0) { __threadfence(); atomicExch(lock, 0); }
}
