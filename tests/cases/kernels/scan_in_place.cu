// Hillis and Steele's scan in one array: without a barrier between read and write a neighbour is read too late.
// launch: grid=1 block=128 args=f4[128]:rand,out:f4[128]
extern "C" __global__ void scan_in_place(const float *x, float *y) {
    __shared__ float s[128];
    int t = threadIdx.x;
    s[t] = x[t];
    for (int offset = 1; offset < blockDim.x; offset *= 2) {
        __syncthreads();
        float left = t >= offset ? s[t - offset] : 0;  // OTHER
        if (!BUGGY) __syncthreads();
        s[t] += left;  // BUG: shared-race
    }
    y[t] = s[t];
}
