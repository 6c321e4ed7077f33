// Each block counts in bins of its own in global memory, by atomics of its scope; the sum needs a barrier.
// launch: grid=3 block=64 args=i4[192]:arange,i4[12],out:i4[3]
extern "C" __global__ void block_scope_private(const int *x, int *count, int *y) {
    int t = threadIdx.x, *mine = count + 4 * blockIdx.x;
    atomicAdd_block(&mine[x[blockIdx.x * 64 + t] % 4], 1);  // OTHER
    if (!BUGGY) __syncthreads();
    if (t == 0) y[blockIdx.x] = mine[0] + mine[1] + mine[2] + mine[3];  // BUG: global-race
}
