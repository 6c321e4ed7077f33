// Threads of two warps share memory from malloc without a barrier between writing and reading it.
// launch: grid=1 block=64 args=i4[64]:arange,out:i4[64]
extern "C" __global__ void heap_race(const int *x, int *y) {
    __shared__ int *box;
    int t = threadIdx.x;
    if (t == 0) box = (int *)malloc(64 * sizeof(int));
    __syncthreads();
    box[t] = x[t];  // OTHER
    if (!BUGGY) __syncthreads();
    y[t] = box[63 - t];  // BUG: global-race
    __syncthreads();
    if (t == 0) free(box);
}
