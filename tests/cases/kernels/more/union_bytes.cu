// A union's float is read where only its two shorts of one half have been written.
// launch: grid=1 block=64 args=i2[64]:arange,out:f4[64]
union Cell { float f; short h[2]; };
extern "C" __global__ void union_bytes(const short *x, float *y) {
    __shared__ Cell cell[64];
    int t = threadIdx.x;
    cell[t].h[1] = x[t];
    if (!BUGGY) cell[t].h[0] = 0;
    __syncthreads();
    y[t] = cell[63 - t].f + 1;  // BUG: uninitialised-read
}
