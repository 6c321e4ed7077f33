// The greatest float of a block by compare and swap in shared memory, read after the barrier.
// launch: grid=1 block=96 args=f4[96]:rand,out:f4[1]
extern "C" __global__ void cas_float_max(const float *x, float *y) {
    __shared__ int best;
    if (threadIdx.x == 0) best = __float_as_int(-1.0f);
    __syncthreads();
    float v = x[threadIdx.x];
    int old = best;  // OTHER
    while (__int_as_float(old) < v) {
        int was = old;
        old = atomicCAS(&best, was, __float_as_int(v));  // OTHER
        if (old == was) break;
    }
    if (!BUGGY) __syncthreads();
    if (threadIdx.x == 95) y[0] = __int_as_float(best);  // BUG: shared-race
}
