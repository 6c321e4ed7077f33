// The step of an interleaved reduction reads its partner past n when n is no multiple of the block.
// launch: grid=2 block=64 args=all:f4[100]:rand,out:f4[2],i4=100
extern "C" __global__ void reduce_past_end(float *x, float *y, int n) {
    float *mine = x + blockIdx.x * blockDim.x;
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (t < stride && i < n && (BUGGY || i + stride < n)) mine[t] += mine[t + stride];  // BUG: out-of-bounds
        __syncthreads();
    }
    if (t == 0) y[blockIdx.x] = mine[0];
}
