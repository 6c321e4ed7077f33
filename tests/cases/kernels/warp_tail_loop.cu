// The barrier is left out once a single warp is at work, but its lanes need one of their own.
// launch: grid=1 block=64 args=all:f4[128]:rand,out:f4[1]
extern "C" __global__ void warp_tail_loop(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t] + x[t + 64];
    for (int stride = 32; stride > 0; stride /= 2) {
        if (stride >= 32) __syncthreads();
        else if (!BUGGY) __syncwarp();
        if (t < stride) s[t] += s[t + stride];  // BUG: warp-race
    }
    if (t == 0) y[0] = s[0];
}
