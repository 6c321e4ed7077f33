// The block's total is cleared at the start of every turn by thread 0 while others may still add for the last one.
// launch: grid=1 block=96 args=i4[288]:arange,out:i4[3]
extern "C" __global__ void shared_total_init(const int *x, int *y) {
    __shared__ int total;
    int t = threadIdx.x;
    for (int k = 0; k < 3; k++) {
        if (t == 0) total = 0;  // BUG: shared-race
        __syncthreads();
        atomicAdd(&total, x[96 * k + t]);  // OTHER
        if (!BUGGY) __syncthreads();
        if (t == 0) y[k] = total;  // OTHER
    }
}
