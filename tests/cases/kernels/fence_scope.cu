// A fence for the block does not reach other blocks, though the kernel differs by one word.
// launch: grid=2 block=32 args=f4[32]:rand,f4[32],i4[1],out:f4[32]
extern "C" __global__ void fence_scope(const float *x, float *box, volatile int *flag, float *y) {
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        box[t] = x[t];  // OTHER
        if (BUGGY) __threadfence_block();
        else __threadfence();
        __syncwarp();
        if (t == 0) *flag = 1;
    } else {
        while (*flag == 0) {}
        if (BUGGY) __threadfence_block();
        else __threadfence();
        y[t] = box[t];  // BUG: global-race
    }
}
