// Shared memory is not zero at the start: elements without input must be set before the sum.
// launch: grid=1 block=64 args=f4[50]:rand,out:f4[1],i4=50
extern "C" __global__ void unset_shared(const float *x, float *y, int n) {
    __shared__ float s[64];
    int t = threadIdx.x;
    if (t < n) s[t] = x[t];
    else if (!BUGGY) s[t] = 0;
    __syncthreads();
    for (int stride = 32; stride > 0; stride /= 2) {
        if (t < stride) s[t] += s[t + stride];  // BUG: uninitialised-read
        __syncthreads();
    }
    if (t == 0) y[0] = s[0];
}
