// Odd and even lanes take different branches and read each other's results without meeting again.
// launch: grid=1 block=32 args=f4[32]:rand,out:f4[32]
extern "C" __global__ void diverged_then_read(const float *x, float *y) {
    __shared__ float s[32];
    int l = threadIdx.x;
    if (l & 1) s[l] = sqrtf(x[l]);  // OTHER
    else s[l] = x[l] * x[l];  // OTHER
    if (!BUGGY) __syncwarp();
    y[l] = s[l ^ 1];  // BUG: warp-race
}
