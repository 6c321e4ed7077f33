// Tiles of a matrix are transposed in place; a block that writes the mirrored tile must have read it before.
// launch: grid=2,2 block=16,16 args=f4[32,32]:rand
extern "C" __global__ void transpose_in_place(float *a) {
    __shared__ float s[16][17], m[16][17];
    int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    if (!BUGGY && bx < by) return;
    s[ty][tx] = a[(by * 16 + ty) * 32 + bx * 16 + tx];  // OTHER
    if (!BUGGY) m[ty][tx] = a[(bx * 16 + ty) * 32 + by * 16 + tx];
    __syncthreads();
    a[(bx * 16 + ty) * 32 + by * 16 + tx] = s[tx][ty];  // BUG: global-race
    if (!BUGGY) a[(by * 16 + ty) * 32 + bx * 16 + tx] = m[tx][ty];
}
