// Half a warp synchronises itself with a mask of its own lanes, while the other half is elsewhere.
// launch: grid=1 block=32 args=f4[32]:rand,out:f4[32]
extern "C" __global__ void partial_warp_barrier(const float *x, float *y) {
    __shared__ float s[32];
    int lane = threadIdx.x;
    if (lane < 16) {
        s[lane] = x[lane];  // OTHER
        if (!BUGGY) __syncwarp(0x0000ffffu);
        y[lane] = s[15 - lane];  // BUG: warp-race
    } else {
        y[lane] = 2 * x[lane];
    }
}
