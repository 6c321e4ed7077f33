// Lanes with equal keys form a group by match_any and add up; the mask of a group is not that of the warp.
// launch: grid=1 block=32 args=u1[32]:rand,out:u4[32]
extern "C" __global__ void matched_groups(const unsigned char *x, unsigned *y) {
    __shared__ unsigned count[4];
    int lane = threadIdx.x, key = x[lane] % 4;
    if (lane < 4) count[lane] = 0;
    __syncwarp();
    unsigned peers = __match_any_sync(0xffffffffu, key);
    bool leader = lane == __ffs(peers) - 1;
    if (BUGGY) {
        count[key] += 1;  // BUG: warp-race
    } else if (leader) {
        count[key] += __popc(peers);
    }
    __syncwarp(peers);
    y[lane] = count[key];  // OTHER
}
