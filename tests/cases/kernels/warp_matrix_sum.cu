// Two warps add into one row of a tile, each element once: the second must wait for the first.
// launch: grid=1 block=64 args=f4[64]:rand,out:f4[32]
extern "C" __global__ void warp_matrix_sum(const float *x, float *y) {
    __shared__ float row[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int turn = 0; turn < 2; turn++) {
        if (turn == warp) row[lane] = turn == 0 ? x[lane] : row[lane] + x[32 + lane];  // BUG: shared-race
        if (!BUGGY || turn == 1) __syncthreads();
    }
    if (warp == 0) y[lane] = row[lane];
}
