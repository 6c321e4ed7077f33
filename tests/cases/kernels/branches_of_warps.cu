// Whole warps take different branches, each with a barrier of its own: the hardware pairs them, the guide does not.
// launch: grid=2 block=64 args=f4[128]:rand,out:f4[128]
extern "C" __global__ void branches_of_warps(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    if (BUGGY) {
        if (t < 32) {
            s[t] = x[i];
            __syncthreads();  // BUG: barrier-divergence
        } else {
            s[t] = -x[i];
            __syncthreads();  // BUG: barrier-divergence
        }
    } else {
        if (t < 32) s[t] = x[i];
        else s[t] = -x[i];
        __syncthreads();
    }
    y[i] = s[63 - t];
}
