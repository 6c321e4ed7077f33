// Threads leave the loop when their own value converges, while the others go on meeting at the barrier.
// launch: grid=1 block=64 args=i4[64]:perm,out:i4[64]
extern "C" __global__ void break_before_barrier(const int *x, int *y) {
    __shared__ int s[64];
    int t = threadIdx.x, v = x[t];
    for (int k = 0; k < 8; k++) {
        s[t] = v;
        __syncthreads();  // BUG: barrier-divergence
        int m = max(s[t], s[(t + 1) % 64]);
        __syncthreads();  // BUG: barrier-divergence
        bool same = m == v;
        if (BUGGY ? same : __syncthreads_and(same)) break;
        v = m;
    }
    __syncthreads();
    y[t] = v;
}
