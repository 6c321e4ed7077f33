// A sum over groups of eight: the shuffle's mask names the group of the wrong lanes.
// launch: grid=1 block=32 args=f4[32]:rand,out:f4[4]
extern "C" __global__ void shuffle_width(const float *x, float *y) {
    int l = threadIdx.x;
    float v = x[l];
    unsigned mask = BUGGY ? 0xffu : 0xffu << (l & 24);
    for (int o = 4; o > 0; o /= 2) v += __shfl_down_sync(mask, v, o, 8);  // BUG: sync-mask
    if (l % 8 == 0) y[l / 8] = v;
}
