// Half a warp waits at a warp barrier of its own branch, where the other half takes part only later.
// launch: grid=1 block=32 args=f4[32]:rand,out:f4[32]
extern "C" __global__ void other_sync_lines(const float *x, float *y) {
    __shared__ float s[32];
    int l = threadIdx.x;
    s[l] = x[l];
    __syncwarp();
    if (l < 16) {
        float v = s[l + 16];
        if (BUGGY) __syncwarp();  // BUG: sync-mask
        else __syncwarp(0xffff);
        s[l] = v;
    }
    __syncwarp();
    y[l] = s[31 - l];
}
