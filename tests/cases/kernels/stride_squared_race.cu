// With more blocks than threads in a block, blockDim squared as stride lets two threads have the same element.
// launch: grid=8 block=4 args=f4[64]:rand,f4[64]:rand,i4=64
extern "C" __global__ void stride_squared_race(const float *x, float *y, int n) {
    int stride = BUGGY ? blockDim.x * blockDim.x : blockDim.x * gridDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) y[i] += x[i];  // BUG: global-race
}
