// A tree over any number of threads: the odd one out is kept, and the block's size is no multiple of a warp.
// launch: grid=2 block=50 args=f4[100]:rand,out:f4[2]
extern "C" __global__ void reduce_any_size(const float *x, float *y) {
    __shared__ float s[50];
    int t = threadIdx.x;
    s[t] = x[blockIdx.x * 50 + t];
    __syncthreads();
    for (int n = 50; n > 1;) {
        int half = (n + 1) / 2;
        if (t + half < (BUGGY ? n + 1 : n)) s[t] += s[t + half];  // BUG: out-of-bounds
        __syncthreads();
        n = half;
    }
    if (t == 0) y[blockIdx.x] = s[0];
}
