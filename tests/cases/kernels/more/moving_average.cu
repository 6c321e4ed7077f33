// A running sum is carried from tile to tile; its array is overwritten before all have read the carry.
// launch: grid=1 block=64 args=i4[256]:rand,out:i4[256]
extern "C" __global__ void moving_average(const int *x, int *y) {
    __shared__ int s[64];
    int t = threadIdx.x, carry = 0;
    for (int k = 0; k < 4; k++) {
        s[t] = x[64 * k + t];  // OTHER
        __syncthreads();
        for (int o = 1; o < 64; o *= 2) {
            int v = t >= o ? s[t - o] : 0;
            __syncthreads();
            s[t] += v;
            __syncthreads();
        }
        y[64 * k + t] = s[t] + carry;
        carry += s[63];  // BUG: shared-race
        if (!BUGGY) __syncthreads();
    }
}
