// The last thread of the last block reads a counter that all others add to: its own addition orders nothing.
// launch: grid=4 block=64 args=i4[256]:rand,i4[1],out:i4[1]
extern "C" __global__ void counter_read_early(const int *x, int *count, int *y) {
    int i = blockIdx.x * 64 + threadIdx.x;
    int before = 0;
    if (x[i] >= 0) before = atomicAdd(count, 1);  // OTHER
    if (BUGGY ? i == 255 : before == 255) y[0] = *count;  // BUG: global-race
}
