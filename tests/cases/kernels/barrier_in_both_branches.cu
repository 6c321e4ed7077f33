// Both branches have a barrier, but they are two barriers: lanes of one warp wait at different ones.
// launch: grid=2 block=64 args=f4[128]:rand,out:f4[128]
extern "C" __global__ void barrier_in_both_branches(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    if ((BUGGY ? t % 32 : blockIdx.x) == 0) {
        s[t] = x[i];
        __syncthreads();  // BUG: barrier-divergence
        y[i] = s[t] + 1;
    } else {
        s[t] = x[i] * x[i];
        __syncthreads();  // BUG: barrier-divergence
        y[i] = s[t] - 1;
    }
}
