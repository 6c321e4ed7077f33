// Every warp keeps its own row of partial sums and thread 0 of the block adds up only after all warps are there.
// launch: grid=2 block=128 args=f4[256]:rand,out:f4[2]
extern "C" __global__ void warp_private_rows(const float *x, float *y) {
    __shared__ float row[4];
    int t = threadIdx.x, w = t / 32;
    float v = x[blockIdx.x * 128 + t];
    for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(~0u, v, o);
    if (t % 32 == 0) row[w] = v;  // OTHER
    if (BUGGY) __syncwarp(); else __syncthreads();
    if (t == 0) y[blockIdx.x] = row[0] + row[1] + row[2] + row[3];  // BUG: shared-race
}
