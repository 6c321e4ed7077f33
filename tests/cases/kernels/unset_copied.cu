// Unset elements may be copied along with the others, but the result must not come from them.
// launch: grid=1 block=64 args=f4[40]:rand,out:f4[64],i4=40
extern "C" __global__ void unset_copied(const float *x, float *y, int n) {
    __shared__ float s[64], copy[64];
    int t = threadIdx.x;
    if (t < n) s[t] = x[t];
    __syncthreads();
    copy[63 - t] = s[t];
    __syncthreads();
    y[t] = BUGGY || 63 - t < n ? copy[t] : 0;  // BUG: uninitialised-read
}
