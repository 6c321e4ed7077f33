// A vote of the warp is no barrier of the block; __syncthreads_or is both.
// launch: grid=1 block=64 args=i4[64]:arange,out:i4[64]
extern "C" __global__ void any_in_block(const int *x, int *y) {
    __shared__ int s[64];
    s[threadIdx.x] = x[threadIdx.x];  // OTHER
    int any = BUGGY ? __any_sync(0xffffffffu, x[threadIdx.x] == 40) : __syncthreads_or(x[threadIdx.x] == 40);
    y[threadIdx.x] = any + s[(threadIdx.x + 32) % 64];  // BUG: shared-race
}
