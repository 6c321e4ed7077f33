// Each warp owns a row of the tile and needs no block barrier for it, only one of the warp.
// launch: grid=1 block=32,4 args=f4[128]:rand,out:f4[128]
extern "C" __global__ void columns_of_tile(const float *x, float *y) {
    __shared__ float row[4][33];
    int lane = threadIdx.x, warp = threadIdx.y;
    row[warp][lane] = x[32 * warp + lane];  // OTHER
    __syncwarp();
    float left = row[BUGGY ? (warp + 1) % 4 : warp][(lane + 1) % 32];  // BUG: shared-race
    y[32 * warp + lane] = left;
}
