// A lambda loads a tile, and the next one is loaded while others add up this one.
// launch: grid=1 block=32x2 args=f4[256]:rand,f4[64]
extern "C" __global__ void lambda_tile(const float *x, float *y) {
    __shared__ float tile[64];
    int t = threadIdx.y * 32 + threadIdx.x;
    auto load = [&](int k) { tile[t] = x[k * 64 + t]; };  // BUG: shared-race
    float sum = 0;
    for (int k = 0; k < 4; k++) {
        load(k);
        __syncthreads();
        for (int j = 0; j < 64; j++) sum += tile[j];  // OTHER
        if (!BUGGY) __syncthreads();
    }
    y[t] = sum;
}
