// A block sums four blocks' worth of data if all four are there, and drops the elements of an incomplete rest.
// launch: grid=2 block=64 args=all:f4[500]:rand,out:f4[2],i4=500
extern "C" __global__ void unrolled_tail(const float *x, float *y, int n) {  // BUG: unread-input x
    __shared__ float s[64];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    float sum = 0;
    if (BUGGY) {
        if (i + 3 * 64 < n) sum = x[i] + x[i + 64] + x[i + 128] + x[i + 192];
    } else {
        for (int k = 0; k < 4; k++) if (i + 64 * k < n) sum += x[i + 64 * k];
    }
    s[t] = sum;
    for (int stride = 32; stride > 0; stride /= 2) {
        __syncthreads();
        if (t < stride) s[t] += s[t + stride];
    }
    if (t == 0) y[blockIdx.x] = s[0];
}
