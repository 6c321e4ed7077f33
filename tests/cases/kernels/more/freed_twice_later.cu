// A thread frees what its neighbour frees as well; behind it another defect waits.
// launch: grid=1 block=64 args=out:i4[64]
extern "C" __global__ void freed_twice_later(int *y) {
    __shared__ int *kept[64];
    int t = threadIdx.x;
    kept[t] = static_cast<int *>(malloc(64));
    kept[t][0] = t;
    __syncthreads();
    y[t] = *kept[t ^ 1];
    __syncthreads();
    free(kept[t]);
    if (BUGGY && t % 2) free(kept[t - 1]);  // BUG: use-after-free
}
