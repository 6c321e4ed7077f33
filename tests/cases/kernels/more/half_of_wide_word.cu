// Eight bytes are read at once while another warp writes the upper four of them.
// launch: grid=1 block=64 args=i4[64]:arange,out:i8[32]
extern "C" __global__ void half_of_wide_word(const int *x, long long *y) {
    __shared__ __align__(8) int s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    if (t < 32) y[t] = reinterpret_cast<long long *>(s)[t];  // BUG: shared-race
    if (!BUGGY) __syncthreads();
    if (t >= 32) s[2 * (t - 32) + 1] = -x[t];  // OTHER
}
