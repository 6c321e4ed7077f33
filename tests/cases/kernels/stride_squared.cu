// The stride of a grid-stride loop is blockDim * gridDim; blockDim squared is right only where they are equal.
// launch: grid=4 block=32 args=f4[1000]:rand,f4[1000]:rand,out:f4[1000],i4=1000
extern "C" __global__ void stride_squared(const float *a, const float *b, float *c, int n) {  // BUG: unwritten-output c
    int stride = BUGGY ? blockDim.x * blockDim.x : blockDim.x * gridDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) c[i] = a[i] + b[i];
}
