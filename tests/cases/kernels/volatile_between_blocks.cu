// volatile makes each access happen; it gives the data no order, so the plain copy of them is a race.
// launch: grid=2 block=32 args=f4[32]:rand,f4[32],i4[1],out:f4[32]
extern "C" __global__ void volatile_between_blocks(const float *x, float *box, int *flag, float *y) {
    volatile int *ready = flag;
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        box[t] = x[t];  // OTHER
        __syncthreads();
        if (BUGGY) { if (t == 0) *ready = 1; }
        else if (t == 0) { __threadfence(); *ready = 1; }
    } else {
        while (*ready == 0) {}
        if (!BUGGY) __threadfence();
        y[t] = box[31 - t];  // BUG: global-race
    }
}
