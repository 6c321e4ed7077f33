// The number of threads that agree comes from a barrier, which orders what lies around it as well.
// launch: grid=1 block=96 args=i4[96]:perm,out:i4[96]
extern "C" __global__ void barrier_that_counts(const int *x, int *y) {
    __shared__ int s[96];
    int t = threadIdx.x;
    s[t] = x[t];  // OTHER
    int n = BUGGY ? __popc(__ballot_sync(~0u, x[t] > 40)) : __syncthreads_count(x[t] > 40);
    y[t] = s[95 - t] + n;  // BUG: shared-race
}
