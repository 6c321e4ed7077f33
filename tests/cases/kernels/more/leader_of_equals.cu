// The first lane of each group of equal keys writes their slot; the others read it without waiting.
// launch: grid=1 block=32 args=i4[32]:rand,out:i4[32]
extern "C" __global__ void leader_of_equals(const int *x, int *y) {
    __shared__ int slot[32];
    int lane = threadIdx.x, key = (x[lane] & 1023) % 5;
    unsigned mask = __match_any_sync(~0u, key);
    int leader = __ffs(mask) - 1;
    if (lane == leader) slot[key] = lane * 10;  // OTHER
    if (!BUGGY) __syncwarp(mask);
    y[lane] = slot[key];  // BUG: warp-race
}
