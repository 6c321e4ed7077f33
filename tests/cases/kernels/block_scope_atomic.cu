// Counts of all blocks are added by atomics of a block's scope, which other blocks' do not know of.
// launch: grid=3 block=32 args=i4[96]:arange,i4[4]
extern "C" __global__ void block_scope_atomic(const int *x, int *count) {
    int i = blockIdx.x * 32 + threadIdx.x;
    if (BUGGY) atomicAdd_block(&count[x[i] % 4], 1);  // BUG: global-race
    else atomicAdd(&count[x[i] % 4], 1);
}
