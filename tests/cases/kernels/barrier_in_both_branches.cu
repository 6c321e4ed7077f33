// Both branches have a barrier, but they are two barriers: lanes of one warp wait at different ones.
// launch: grid=1 block=64 args=f4[64]:rand,out:f4[64]
extern "C" __global__ void barrier_in_both_branches(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    int split = BUGGY ? t % 32 : t / 32;
    if (split < 1) {
        s[t] = x[t];
        __syncthreads();  // BUG: barrier-divergence
        y[t] = s[t] + 1;
    } else {
        s[t] = x[t] * x[t];
        __syncthreads();  // BUG: barrier-divergence
        y[t] = s[t] - 1;
    }
}
