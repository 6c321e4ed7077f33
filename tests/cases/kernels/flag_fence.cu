// Block 0 announces its data by a volatile flag: without fences the flag may arrive first.
// launch: grid=2 block=32 args=f4[32]:rand,f4[32],i4[1],out:f4[32]
extern "C" __global__ void flag_fence(const float *x, float *box, volatile int *flag, float *y) {
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        box[t] = x[t];  // OTHER
        if (!BUGGY) __threadfence();
        __syncthreads();
        if (t == 0) *flag = 1;
    } else {
        while (*flag == 0) {}
        if (!BUGGY) __threadfence();
        y[t] = box[t];  // BUG: global-race
    }
}
