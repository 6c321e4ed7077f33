// A tile with its halo: threads load their own element without asking whether there is one.
// launch: grid=4 block=32 args=f4[100]:rand,out:f4[100],i4=100
extern "C" __global__ void convolution_halo(const float *x, float *y, int n) {
    __shared__ float tile[34];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (t == 0) tile[0] = i > 0 ? x[i - 1] : 0;
    if (t == 31) tile[33] = i + 1 < n ? x[i + 1] : 0;
    tile[t + 1] = BUGGY || i < n ? x[i] : 0;  // BUG: out-of-bounds
    __syncthreads();
    if (i < n) y[i] = (tile[t] + tile[t + 1] + tile[t + 2]) / 3;
}
