// Lanes leave a loop, and those that stay still shuffle with the mask from before it.
// launch: grid=1 block=32 args=i4[32]:range,i4[32]
extern "C" __global__ void list_walk_mask(const int *length, int *y) {
    int left = length[threadIdx.x] % 7, sum = 0;
    unsigned mask = __ballot_sync(0xffffffffu, left > 0);
    while (left > 0) {
        int leader = __ffs(mask) - 1;
        sum += __shfl_sync(mask, left, leader);  // BUG: sync-mask
        left--;
        if (!BUGGY) mask = __ballot_sync(mask, left > 0);
    }
    y[threadIdx.x] = sum;
}
