// A value read from unset shared memory is carried along a loop before it reaches the result.
// launch: grid=1 block=32 args=f4[32]:rand,out:f4[32],i4=3
extern "C" __global__ void loop_carried(const float *x, float *y, int n) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    if (!BUGGY) s[32 + t] = 0;
    __syncthreads();
    float before = 0, now = 0;
    for (int k = 0; k < n; k++) {
        before = now;
        now = s[(t + 16 * k) % 64];  // BUG: uninitialised-read
    }
    y[t] = before + now;
}
