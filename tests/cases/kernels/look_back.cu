// A scan in one pass: each block waits for the sum before it; the sum must be fenced before its flag.
// launch: grid=5 block=32 args=f4[160]:rand,f4[5],i4[5],out:f4[160]
extern "C" __global__ void look_back(const float *x, float *prefix, volatile int *flag, float *y) {
    int lane = threadIdx.x, i = blockIdx.x * 32 + lane;
    float sum = x[i];
    for (int offset = 1; offset < 32; offset *= 2) {
        float left = __shfl_up_sync(0xffffffffu, sum, offset);
        if (lane >= offset) sum += left;
    }
    float before = 0;
    if (lane == 31) {
        if (blockIdx.x > 0) {
            while (flag[blockIdx.x - 1] == 0) {}
            if (!BUGGY) __threadfence();
            before = prefix[blockIdx.x - 1];  // BUG: global-race
        }
        prefix[blockIdx.x] = before + sum;  // OTHER
        if (!BUGGY) __threadfence();
        flag[blockIdx.x] = 1;
    }
    y[i] = __shfl_sync(0xffffffffu, before, 31) + sum;
}
