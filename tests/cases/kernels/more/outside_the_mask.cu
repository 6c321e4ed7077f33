// Lanes of the lower half exchange and synchronise; one lane of the upper half reads what they wrote.
// launch: grid=1 block=32 args=out:i4[32]
extern "C" __global__ void outside_the_mask(int *y) {
    __shared__ int s[32];
    int lane = threadIdx.x;
    s[lane] = lane;  // OTHER
    int v = lane;
    if (lane < 16) {
        v = __shfl_xor_sync(0xffffu, v, 1);
        __syncwarp(0xffffu);
        v += s[lane ^ 2];
    } else {
        __syncwarp(0xffff0000u);
        v += s[lane ^ (BUGGY && lane == 20 ? 16 : 2)];  // BUG: warp-race
    }
    y[lane] = v;
}
