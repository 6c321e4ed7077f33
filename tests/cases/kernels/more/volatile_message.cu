// A message is announced by a volatile flag, without a fence between the two.
// launch: grid=2 block=32 args=i4[32],i4[1],i4[32]
extern "C" __global__ void volatile_message(int *data, int *flag, int *y) {
    volatile int *ready = flag;
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        data[t] = t * 3;  // BUG: global-race
        if (!BUGGY) __threadfence();
        __syncthreads();
        if (t == 0) *ready = 1;
    } else {
        if (t == 0) while (*ready == 0) {}
        if (!BUGGY) __threadfence();
        __syncthreads();
        y[t] = ((volatile int *)data)[t];  // OTHER
    }
}
