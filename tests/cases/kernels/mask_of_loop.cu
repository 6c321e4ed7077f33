// Lanes leave a loop one after another; a shuffle in it must name those who are still there.
// launch: grid=1 block=32 args=i4[32]:arange,out:i4[32]
extern "C" __global__ void mask_of_loop(const int *x, int *y) {
    int left = x[threadIdx.x] % 5 + 1, sum = 0;
    unsigned mask = 0xffffffffu;
    while (left > 0) {
        sum += __popc(__ballot_sync(mask, left % 2));  // BUG: sync-mask
        left--;
        if (!BUGGY) mask = __ballot_sync(mask, left > 0);
    }
    y[threadIdx.x] = sum;
}
