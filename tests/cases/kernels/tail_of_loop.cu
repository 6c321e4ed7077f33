// A grid-stride loop runs a different number of times per thread, and inside it is a barrier.
// launch: grid=2 block=64 args=f4[200]:rand,out:f4[200],i4=200
extern "C" __global__ void tail_of_loop(const float *x, float *y, int n) {
    __shared__ float s[64];
    int t = threadIdx.x;
    int limit = BUGGY ? n : (n + 127) / 128 * 128;
    for (int i = blockIdx.x * 64 + t; i < limit; i += 128) {
        s[t] = i < n ? x[i] : 0;
        __syncthreads();  // BUG: barrier-divergence
        float v = s[t] + s[t & 32];
        __syncthreads();  // BUG: barrier-divergence
        if (i < n) y[i] = v;
    }
}
