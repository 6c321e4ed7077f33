// One thread allocates for its block, and frees before the others have read.
// launch: grid=2 block=64 args=out:i4[128]
extern "C" __global__ void freed_by_first(int *y) {
    __shared__ int *memory;
    int t = threadIdx.x;
    if (t == 0) memory = (int *)malloc(64 * sizeof(int));
    __syncthreads();
    memory[t] = t;
    __syncthreads();
    int v = BUGGY ? 0 : memory[63 - t];
    if (!BUGGY) __syncthreads();
    if (t == 0) free(memory);
    if (BUGGY) __syncthreads();
    if (BUGGY) v = memory[63 - t];  // BUG: use-after-free
    y[blockIdx.x * 64 + t] = v;
}
