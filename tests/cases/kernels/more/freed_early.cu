// The list's memory is freed by the thread that made it while another thread of the warp still reads it.
// launch: grid=1 block=32 args=i4[32]:arange,out:i4[32]
extern "C" __global__ void freed_early(const int *x, int *y) {
    __shared__ int *list;
    int t = threadIdx.x;
    if (t == 0) list = (int *)malloc(32 * sizeof(int));
    __syncthreads();
    list[t] = x[t];
    __syncthreads();
    if (BUGGY && t == 0) free(list);
    __syncthreads();
    y[t] = list[31 - t];  // BUG: use-after-free
    __syncthreads();
    if (!BUGGY && t == 0) free(list);
}
