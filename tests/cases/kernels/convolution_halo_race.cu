// The halo's cells are loaded by other warps than read them: a barrier is missing after the loads.
// launch: grid=2 block=64 args=f4[128]:rand,out:f4[128],i4=128
extern "C" __global__ void convolution_halo_race(const float *x, float *y, int n) {
    __shared__ float tile[66];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    tile[t + 1] = x[i];  // OTHER
    if (t == 0) tile[0] = i > 0 ? x[i - 1] : 0;
    if (t == 63) tile[65] = i + 1 < n ? x[i + 1] : 0;
    if (BUGGY) __syncwarp();
    else __syncthreads();
    y[i] = (tile[t] + tile[t + 1] + tile[t + 2]) / 3;  // BUG: shared-race
}
