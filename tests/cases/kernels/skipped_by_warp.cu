// A warp without work skips a phase and its barrier, so its next barrier is another one than that of the rest.
// launch: grid=1 block=96 args=f4[96]:rand,out:f4[96],i4=64
extern "C" __global__ void skipped_by_warp(const float *x, float *y, int n) {
    __shared__ float s[96];
    int t = threadIdx.x;
    s[t] = x[t];
    if (!BUGGY || t < n) __syncthreads();  // BUG: barrier-divergence
    float v = t < n ? s[(t + 1) % n] : 0;
    __syncthreads();  // BUG: barrier-divergence
    s[t] = v;
    if (t < n) y[t] = s[t];
    else y[t] = 0;
}
