// Each thread owns four neighbours, but the last thread of a block also writes the first of the next block.
// launch: grid=2 block=32 args=f4[257]:rand,f4[257]
extern "C" __global__ void strided_tail_race(const float *x, float *y) {
    int i = 4 * (blockIdx.x * 32 + threadIdx.x);
    for (int k = 0; k < (BUGGY ? 5 : 4); k++) y[i + k] = x[i + k] * k;  // BUG: global-race
}
