// One branch of a warp writes what the other reads: lanes in different branches have no order without __syncwarp.
// launch: grid=1 block=32 args=f4[32]:rand,out:f4[32]
extern "C" __global__ void branches_share(const float *x, float *y) {
    __shared__ float s[16];
    int lane = threadIdx.x;
    if (lane < 16) {
        s[lane] = x[lane];  // OTHER
        if (!BUGGY) __syncwarp();
        y[lane] = x[lane] * 2;
    } else {
        if (!BUGGY) __syncwarp();
        y[lane] = s[lane - 16];  // BUG: warp-race
    }
}
