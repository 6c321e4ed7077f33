// The mask of active lanes is taken before a loop that lanes leave one by one.
// launch: grid=1 block=32 args=out:i4[32]
extern "C" __global__ void stale_active_mask(int *y) {
    int lane = threadIdx.x, v = lane, sum = 0;
    unsigned mask = __activemask();
    for (int k = 0; k < 8; k++) {
        bool go = lane >= 4 * k;
        if (!BUGGY) mask = __ballot_sync(mask, go);
        if (!go) break;
        sum += __shfl_sync(mask, v, 31);  // BUG: sync-mask
    }
    y[lane] = sum;
}
