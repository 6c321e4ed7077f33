// A tile without padding is stored in a swizzled order and read in another: some elements are never there.
// launch: grid=1 block=8,8 args=f4[64]:rand,out:f4[64]
extern "C" __global__ void swizzled_transpose(const float *x, float *y) {
    __shared__ float s[8][16];
    int tx = threadIdx.x, ty = threadIdx.y;
    s[ty][tx ^ ty] = x[8 * ty + tx];
    __syncthreads();
    y[8 * ty + tx] = 2 * s[tx][BUGGY ? ty + tx : ty ^ tx];  // BUG: uninitialised-read
}
