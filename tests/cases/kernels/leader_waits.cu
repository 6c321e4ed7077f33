// Thread 0 alone waits for the flag and the others at a barrier for it, which is fine with a fence after the wait.
// launch: grid=2 block=64 args=f4[64]:rand,f4[64],i4[1],out:f4[64]
extern "C" __global__ void leader_waits(const float *x, float *box, volatile int *flag, float *y) {
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        box[t] = x[t];  // OTHER
        __threadfence();
        __syncthreads();
        if (t == 0) *flag = 1;
    } else {
        if (t == 0) {
            while (*flag == 0) {}
            if (!BUGGY) __threadfence();
        }
        __syncthreads();
        y[t] = box[63 - t];  // BUG: global-race
    }
}
