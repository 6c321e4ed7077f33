// Half a warp shuffles with a mask of the whole warp, whose other half never comes.
// launch: grid=1 block=32 args=f4[32]:rand,out:f4[32]
extern "C" __global__ void half_warp_shuffle(const float *x, float *y) {
    int lane = threadIdx.x;
    float v = x[lane];
    if (lane < 16) {
        for (int offset = 8; offset > 0; offset /= 2)
            v += __shfl_down_sync(BUGGY ? 0xffffffffu : 0x0000ffffu, v, offset, 16);  // BUG: sync-mask
    }
    y[lane] = v;
}
