// A look-back scan publishes its sum and a flag in two words, without a fence between.
// launch: grid=4 block=32 args=i4[128]:rand,i4[4],i4[4],i4[4]
extern "C" __global__ void look_back_two_words(const int *x, int *sums, int *flags, int *y) {
    int b = blockIdx.x, lane = threadIdx.x, v = x[32 * b + lane];
    for (int o = 16; o > 0; o /= 2) v += __shfl_down_sync(~0u, v, o);
    if (lane == 0) {
        int before = 0;
        if (b > 0) {
            while (atomicAdd(&flags[b - 1], 0) == 0) { }
            __threadfence();
            before = sums[b - 1];  // OTHER
        }
        sums[b] = before + v;  // BUG: global-race
        if (!BUGGY) __threadfence();
        atomicExch(&flags[b], 1);
        y[b] = before;
    }
}
