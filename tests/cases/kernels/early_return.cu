// Threads past the end may return before all barriers; to skip only some of them is another matter.
// launch: grid=2 block=64 args=f4[100]:rand,out:f4[100],i4=100
extern "C" __global__ void early_return(const float *x, float *y, int n) {
    __shared__ float s[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#if BUGGY
    if (i < n) {
        s[threadIdx.x] = x[i];
        __syncthreads();  // BUG: barrier-divergence
    }
#else
    if (i >= n) return;
    s[threadIdx.x] = x[i];
    __syncthreads();
#endif
    if (i < n) y[i] = s[threadIdx.x] + s[0];
    if (BUGGY) __syncthreads();  // OTHER
}
