// A grid-wide barrier by hand: the counter is waited for, but nothing is fenced.
// launch: grid=4 block=32 args=i4[128],i4[1],i4[128]
extern "C" __global__ void grid_count_by_hand(int *x, unsigned *count, int *y) {
    int i = blockIdx.x * 32 + threadIdx.x;
    x[i] = i * i;  // BUG: global-race
    if (!BUGGY) __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(count, 1);
        while (atomicAdd(count, 0) < 4) {}
    }
    __syncthreads();
    if (!BUGGY) __threadfence();
    y[i] = x[127 - i];  // OTHER
}
