// The leader of the lanes that came stores for them all; two leaders of two branches must not use one place.
// launch: grid=1 block=32 args=i4[32]:arange,out:i4[2]
extern "C" __global__ void vote_then_write(const int *x, int *y) {
    __shared__ int s[2];
    int odd = x[threadIdx.x] & 1;
    unsigned peers = __match_any_sync(0xffffffffu, odd);
    if (threadIdx.x == __ffs(peers) - 1) s[BUGGY ? 0 : odd] = __popc(peers) + odd;  // BUG: warp-race
    __syncwarp();
    if (threadIdx.x < (BUGGY ? 1 : 2)) y[threadIdx.x] = s[threadIdx.x];
    if (BUGGY && threadIdx.x == 1) y[1] = 0;
}
