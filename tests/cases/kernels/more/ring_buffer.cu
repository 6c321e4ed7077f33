// A ring of four rows in shared memory for a vertical stencil: the row that is replaced may still be in use.
// launch: grid=1 block=64 args=f4[1024]:rand,f4[1024]
extern "C" __global__ void ring_buffer(const float *x, float *y) {
    __shared__ float ring[3][66];
    int t = threadIdx.x;
    for (int r = 0; r < 2; r++) { ring[r][t + 1] = x[64 * r + t]; if (t < 2) ring[r][65 * t] = 0; }
    if (t < 2) ring[2][65 * t] = 0;
    for (int r = 2; r < 16; r++) {
        ring[r % 3][t + 1] = x[64 * r + t];  // BUG: shared-race
        __syncthreads();
        y[64 * (r - 1) + t] = ring[(r - 1) % 3][t] + ring[(r - 1) % 3][t + 2] + ring[r % 3][t + 1] +
                              ring[(r - 2) % 3][t] - ring[(r - 2) % 3][t + 2];  // OTHER
        if (!BUGGY) __syncthreads();
    }
}
