// The down-sweep begins with the root set to zero: all must have finished the up-sweep and must wait for the zero.
// launch: grid=1 block=64 args=f4[128]:rand,out:f4[128]
extern "C" __global__ void blelloch_scan(const float *x, float *y) {
    __shared__ float s[128];
    int t = threadIdx.x, offset = 1;
    s[2 * t] = x[2 * t];
    s[2 * t + 1] = x[2 * t + 1];
    for (int pairs = 64; pairs > 0; pairs /= 2, offset *= 2) {
        __syncthreads();
        if (t < pairs) s[offset * (2 * t + 2) - 1] += s[offset * (2 * t + 1) - 1];
    }
    if (t == 0) s[127] = 0;
    for (int pairs = 1; pairs < 128; pairs *= 2) {
        offset /= 2;
        if (!BUGGY || pairs != 64) __syncthreads();
        if (t < pairs) {
            int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1;
            float left = s[a];  // OTHER
            s[a] = s[b];  // BUG: shared-race
            s[b] += left;  // OTHER
        }
    }
    __syncthreads();
    y[2 * t] = s[2 * t];
    y[2 * t + 1] = s[2 * t + 1];
}
