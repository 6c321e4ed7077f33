// All 32 lanes execute a warp barrier whose mask names 16 of them.
// launch: grid=1 block=32 args=f4[32]:rand,out:f4[32]
extern "C" __global__ void wrong_warp_mask(const float *x, float *y) {
    __shared__ float s[32];
    int lane = threadIdx.x;
    s[lane] = x[lane];
    __syncwarp();
    float a = s[lane ^ 1];
    __syncwarp(BUGGY ? 0x0000ffffu : 0xffffffffu);  // BUG: sync-mask
    y[lane] = a + x[lane];
}
