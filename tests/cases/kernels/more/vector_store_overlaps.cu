// Each thread stores four elements at a stride of three.
// launch: grid=1 block=32 args=f4[132]
extern "C" __global__ void vector_store_overlaps(float *y) {
    int t = threadIdx.x;
    for (int k = 0; k < 4; k++) y[(BUGGY ? 3 : 4) * t + k] = 10 * t + k;  // BUG: warp-race
}
