// One thread takes the first element while the others go on to overwrite it.
// launch: grid=1 block=64 args=out:i4[65]
extern "C" __global__ void discarded_read(int *y) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t + 5;
    __syncthreads();
    if (t == (BUGGY ? 40 : 0)) y[64] = s[0];  // OTHER
    if (t == 0) s[0] = 1;  // BUG: shared-race
    __syncthreads();
    y[t] = s[t];
}
