// Rows of a block's threads share an element since the index leaves out y.
// launch: grid=1 block=8x8 args=f4[64]:rand,f4[64]
extern "C" __global__ void tile_index_2d(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.y * 8 + threadIdx.x;
    s[BUGGY ? threadIdx.x : t] = x[t];  // BUG: shared-race
    __syncthreads();
    y[t] = s[BUGGY ? threadIdx.x : 63 - t];
}
