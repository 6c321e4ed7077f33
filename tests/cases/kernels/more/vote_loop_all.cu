// A relaxation loop ends by __syncthreads_or, but its buffers are swapped before the others have read.
// launch: grid=1 block=96 args=i4[96]:rand,i4[96]
extern "C" __global__ void vote_loop_all(const int *x, int *y) {
    __shared__ int s[98];
    int t = threadIdx.x;
    s[t + 1] = x[t] & 63;
    if (t == 0) s[0] = s[97] = 63;
    __syncthreads();
    int changed, pass = 0;
    do {
        int low = min(s[t], s[t + 2]) + 1;  // OTHER
        changed = low < s[t + 1];
        if (!BUGGY) __syncthreads();
        if (changed) s[t + 1] = low;  // BUG: shared-race
    } while (__syncthreads_or(changed) && ++pass < 40);
    y[t] = s[t + 1];
}
