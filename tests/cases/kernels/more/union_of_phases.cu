// Two phases share a union; the second one's members are only read where the second phase has set them.
// launch: grid=1 block=64 args=f4[64]:rand,out:f4[64]
union Phase { float sums[64]; double wide[32]; };
extern "C" __global__ void union_of_phases(const float *x, float *y) {
    __shared__ Phase p;
    int t = threadIdx.x;
    p.sums[t] = x[t];
    __syncthreads();
    float v = p.sums[t ^ 33];  // OTHER
    if (!BUGGY) __syncthreads();
    if (t < 32) p.wide[t] = v;  // BUG: shared-race
    __syncthreads();
    y[t] = (float)p.wide[t % 32] + v;
}
