// Lanes that found something vote in a branch: the mask must be that of the branch, not of the whole warp.
// launch: grid=1 block=64 args=i4[64]:perm,u4[1],out:u1[64]
extern "C" __global__ void warp_aggregated_atomic(const int *x, unsigned *count, bool *kept) {
    int lane = threadIdx.x % 32;
    bool keep = x[threadIdx.x] > 20;
    unsigned wanted = __ballot_sync(0xffffffffu, keep);
    if (keep) {
        unsigned peers = __ballot_sync(BUGGY ? 0xffffffffu : wanted, true);  // BUG: sync-mask
        if (lane == __ffs(peers) - 1) atomicAdd(count, __popc(peers));
    }
    kept[threadIdx.x] = keep;
}
