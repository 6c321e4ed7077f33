// The steps of a tree of sums depend on each other: a barrier belongs into the loop, not behind it.
// launch: grid=3 block=256 args=all:f4[768]:rand,out:f4[3]
extern "C" __global__ void tree_sum(const float *x, float *y) {
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = x[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (int stride = 128; stride > 0; stride /= 2) {
        if (t < stride) s[t] += s[t + stride];  // BUG: shared-race
        if (!BUGGY) __syncthreads();
        else __syncwarp();
    }
    if (t == 0) y[blockIdx.x] = s[0];
}
