// Stream compaction: offsets of warps are summed by thread 0 and read without a barrier behind the sum.
// launch: grid=1 block=128 args=i4[128]:perm,i4[128],out:i4[1]
extern "C" __global__ void compact_ballot(const int *x, int *y, int *n) {
    __shared__ int offset[5];
    int t = threadIdx.x, w = t / 32, l = t % 32;
    bool keep = x[t] % 3 == 0;
    unsigned who = __ballot_sync(0xffffffffu, keep);
    if (l == 0) offset[w + 1] = __popc(who);
    __syncthreads();
    if (t == 0) {
        offset[0] = 0;  // OTHER
        for (int k = 1; k < 5; k++) offset[k] += offset[k - 1];  // OTHER
        n[0] = offset[4];
    }
    if (!BUGGY) __syncthreads();
    if (keep) y[offset[w] + __popc(who & ((1u << l) - 1))] = x[t];  // BUG: shared-race
}
