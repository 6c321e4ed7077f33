// A relaxation ends when nothing changed: asked of the warp where the block is meant, so warps leave at different turns.
// launch: grid=1 block=64 args=i4[64]:arange,out:i4[64]
extern "C" __global__ void vote_per_warp(const int *x, int *y) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t < 32 ? 0 : x[t] % 7;
    __syncthreads();
    int more = 1;
    while (more) {
        int v = s[t];
        bool change = v > 0;
        __syncthreads();  // BUG: barrier-divergence
        if (change) s[t] = v - 1;
        more = BUGGY ? __any_sync(~0u, change) : __syncthreads_or(change);
    }
    y[t] = s[t];
}
