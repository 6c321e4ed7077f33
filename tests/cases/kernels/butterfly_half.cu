// The lower half of a warp adds up by a butterfly whose mask names the upper half, too.
// launch: grid=1 block=32 args=f4[32]:rand,out:f4[1]
extern "C" __global__ void butterfly_half(const float *x, float *y) {
    int l = threadIdx.x;
    if (l < 16) {
        float v = x[l];
        for (int o = 8; o > 0; o /= 2) v += __shfl_xor_sync(BUGGY ? 0xffffffffu : 0xffffu, v, o);  // BUG: sync-mask
        if (l == 0) y[0] = v;
    }
}
