// Each case of a switch over the thread's role has a barrier of its own, in one of them twice.
// launch: grid=1 block=64 args=out:i4[64]
extern "C" __global__ void barrier_in_switch(int *y) {
    __shared__ int s[64];
    int t = threadIdx.x, v = 0;
    s[t] = t;
    switch (BUGGY ? t % 4 : (int)blockIdx.x) {
    case 0: __syncthreads(); v = s[t ^ 1]; break;  // BUG: barrier-divergence
    case 1: __syncthreads(); v = s[t ^ 2] * 2; break;  // BUG: barrier-divergence
    case 2: __syncthreads(); v = s[t ^ 4] * 3; break;  // BUG: barrier-divergence
    default: v = 7;
    }
    y[t] = v;
}
