// Only the elements that were set may be used; a choice between them and zero is made for each thread.
// launch: grid=1 block=64 args=f4[40]:rand,out:f4[64],i4=40
extern "C" __global__ void guarded_use(const float *x, float *y, int n) {
    __shared__ float s[64];
    int t = threadIdx.x;
    if (t < n) s[t] = x[t];
    __syncthreads();
    float v = BUGGY || t < n ? s[t] : 0;  // BUG: uninitialised-read
    float w = t + 1 < n ? s[(t + 1) % 64] : 0;
    y[t] = v * 2 + w;
}
