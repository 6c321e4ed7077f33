// Four floats at a time are stored into a padded row, whose length is no multiple of four.
// launch: grid=1 block=32 args=f4[128]:rand,out:f4[128]
extern "C" __global__ void float4_tile(const float4 *x, float *y) {
    __shared__ __align__(16) float s[8][BUGGY ? 17 : 20];
    int t = threadIdx.x, r = t / 4, c = t % 4;
    *reinterpret_cast<float4 *>(&s[r][4 * c]) = x[t];  // BUG: misaligned
    __syncthreads();
    for (int k = 0; k < 4; k++) y[32 * k + t] = s[k * 2 + t / 16][t % 16];
}
