// Blocks append to one list; each must own the range that it writes, so the offset is taken by one atomic per block.
// launch: grid=3 block=32 args=i4[96]:perm,i4[1],i4[96]
extern "C" __global__ void prefix_offsets(const int *x, int *length, int *list) {
    __shared__ int base;
    int v = x[blockIdx.x * 32 + threadIdx.x];
    unsigned kept = __ballot_sync(0xffffffffu, v % 3 == 0);
    if (threadIdx.x == 0) {
        if (BUGGY) { base = *length; *length = base + __popc(kept); }  // BUG: global-race
        else base = atomicAdd(length, __popc(kept));
    }
    __syncthreads();
    if (v % 3 == 0) list[base + __popc(kept & ((1u << threadIdx.x) - 1))] = v;  // OTHER
}
