// The barrier of a tree of sums stands inside the branch of those who add: the others never come to it.
// launch: grid=1 block=128 args=f4[128]:rand,f4[128]:rand,out:f4[1]
extern "C" __global__ void barrier_in_branch(const float *a, const float *b, float *dot) {
    __shared__ float cache[128];
    int t = threadIdx.x;
    cache[t] = a[t] * b[t];
    __syncthreads();
    for (int i = 64; i != 0; i /= 2) {
        if (t < i) {
            cache[t] += cache[t + i];
            if (BUGGY) __syncthreads();  // BUG: barrier-divergence
        }
        if (!BUGGY) __syncthreads();
    }
    if (t == 0) dot[0] = cache[0];
}
