// Warp aggregated increments: the leader's result is shuffled by a mask that names lanes without work.
// launch: grid=2 block=64 args=i4[128]:perm,i4[1],i4[128]
extern "C" __global__ void aggregated_atomic(const int *x, int *n, int *y) {
    int i = blockIdx.x * 64 + threadIdx.x, l = threadIdx.x % 32;
    if (x[i] % 2 == 0) {
        unsigned act = __activemask();
        int leader = __ffs(act) - 1, base = 0;
        if (l == leader) base = atomicAdd(n, __popc(act));
        base = __shfl_sync(BUGGY ? 0xffffffffu : act, base, leader);  // BUG: sync-mask
        y[base + __popc(act & ((1u << l) - 1))] = x[i];
    }
}
