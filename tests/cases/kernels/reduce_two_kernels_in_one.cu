// The second step reads what all blocks have stored, though only the launch's end orders blocks.
// launch: grid=4 block=32 args=all:f4[128]:rand,f4[4],out:f4[1]
extern "C" __global__ void reduce_two_kernels_in_one(const float *x, float *part, float *y) {
    float v = x[blockIdx.x * 32 + threadIdx.x];
    for (int offset = 16; offset > 0; offset /= 2) v += __shfl_down_sync(0xffffffffu, v, offset);
    if (threadIdx.x == 0) {
        part[blockIdx.x] = v;  // OTHER
        if (blockIdx.x == gridDim.x - 1) {
            float sum = 0;
            for (int b = BUGGY ? 0 : blockIdx.x; b < gridDim.x; b++) sum += part[b];  // BUG: global-race
            y[0] = sum;
        }
    }
}
