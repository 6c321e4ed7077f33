// Half of the lanes add up with the mask of all.
// launch: grid=1 block=32 args=i4[32]:rand,i4[32]
extern "C" __global__ void redux_wrong_mask(const int *x, int *y) {
    int t = threadIdx.x;
    y[t] = 0;
    if (t % 2 == 0) y[t] = __reduce_add_sync(BUGGY ? 0xffffffffu : 0x55555555u, x[t]);  // BUG: sync-mask
}
