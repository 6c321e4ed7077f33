// A thread that finds nothing to do skips the rest of the turn with continue, and the barrier with it.
// launch: grid=1 block=64 args=i4[256]:perm,out:i4[64]
extern "C" __global__ void skipped_barrier(const int *x, int *y) {
    __shared__ int s[64];
    int t = threadIdx.x, sum = 0;
    for (int k = 0; k < 4; k++) {
        s[t] = x[64 * k + t];
        __syncthreads();  // BUG: barrier-divergence
        int v = s[63 - t];
        if (BUGGY && v % 2) continue;
        if (v % 2 == 0) sum += v;
        __syncthreads();  // BUG: barrier-divergence
    }
    y[t] = sum;
}
