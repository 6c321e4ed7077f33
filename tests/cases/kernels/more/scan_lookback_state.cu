// Look-back with a state word that holds status and value together needs no fence; two words do.
// launch: grid=4 block=32 args=i4[128]:arange,i8[4],out:i4[128]
extern "C" __global__ void scan_lookback_state(const int *x, unsigned long long *state, int *y) {
    __shared__ int before;
    int t = threadIdx.x, b = blockIdx.x, v = x[b * 32 + t], sum = v;
    for (int o = 1; o < 32; o *= 2) { int u = __shfl_up_sync(~0u, sum, o); if (t >= o) sum += u; }
    int total = __shfl_sync(~0u, sum, 31);
    if (t == 0) {
        int p = 0;
        if (b > 0) {
            unsigned long long s;
            if (BUGGY) { while (((s = state[b - 1]) >> 32) == 0) { __nanosleep(10); } }  // BUG: global-race
            else while (((s = *(volatile unsigned long long *)&state[b - 1]) >> 32) == 0) {}
            p = (int)s;
        }
        if (BUGGY) state[b] = 1ull << 32 | (unsigned)(p + total);  // OTHER
        else *(volatile unsigned long long *)&state[b] = 1ull << 32 | (unsigned)(p + total);
        before = p;
    }
    __syncwarp();
    y[b * 32 + t] = before + sum;
}
