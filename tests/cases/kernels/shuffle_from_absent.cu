// The mask is right, but lanes 8 to 15 read from lanes 16 to 23, which are not there; a width of 16 ends there.
// launch: grid=1 block=32 args=f4[32]:rand,out:f4[32]
extern "C" __global__ void shuffle_from_absent(const float *x, float *y) {
    int lane = threadIdx.x;
    float v = x[lane];
    if (lane < 16) {
        float other = __shfl_sync(0x0000ffffu, v, BUGGY ? lane + 8 : (lane + 8) % 16);  // BUG: sync-mask
        v += other;
    }
    y[lane] = v;
}
