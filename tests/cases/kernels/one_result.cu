// Every block stores its own sum into the one result: the last wins, where all should be added.
// launch: grid=8 block=32 args=all:f4[256]:rand,f4[1]
extern "C" __global__ void one_result(const float *x, float *y) {
    float sum = x[blockIdx.x * 32 + threadIdx.x];
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
    if (threadIdx.x == 0) {
        if (BUGGY) *y = sum;  // BUG: global-race
        else atomicAdd(y, sum);
    }
}
