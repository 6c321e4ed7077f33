// Lanes with something to keep write it at the count of those before them, counted with the lane itself.
// launch: grid=1 block=64 args=i4[64]:rand,i4[64],i4[2]
extern "C" __global__ void ballot_compaction(const int *x, int *y, int *counts) {
    int t = threadIdx.x, w = t / 32, lane = t % 32;
    bool keep = x[t] % 3 != 0;
    unsigned votes = __ballot_sync(~0u, keep);
    unsigned below = BUGGY ? (2u << lane) - 1 : (1u << lane) - 1;
    int at = __popc(votes & below);
    if (lane == 0) counts[w] = __popc(votes);
    if (BUGGY ? true : keep) y[32 * w + (BUGGY ? at % 32 : at)] = x[t];  // BUG: warp-race
}
