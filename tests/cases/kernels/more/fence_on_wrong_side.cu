// The fence stands before the data are written, not between them and the flag.
// launch: grid=2 block=32 args=i4[1],i4[1],i4[1]
extern "C" __global__ void fence_on_wrong_side(int *data, volatile int *flag, int *y) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        if (BUGGY) __threadfence();
        *data = 7;  // OTHER
        if (!BUGGY) __threadfence();
        *flag = 1;
    } else {
        if (*flag == 1) {
            __threadfence();
            *y = *data;  // BUG: global-race
        }
    }
}
