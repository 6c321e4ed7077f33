// A grid-stride loop whose stride is that of a block: elements are handled by several blocks.
// launch: grid=4 block=32 args=f4[512]:one,f4[512],i4=512
extern "C" __global__ void grid_stride(const float *x, float *y, int n) {
    int stride = BUGGY ? blockDim.x : gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) y[i] += x[i];  // BUG: global-race
}
