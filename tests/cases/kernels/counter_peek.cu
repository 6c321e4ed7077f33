// A plain load of a counter that others add to atomically is a race; a volatile one is not.
// launch: grid=4 block=32 args=i4[1],out:i4[128]
extern "C" __global__ void counter_peek(int *counter, int *seen) {
    int i = blockIdx.x * 32 + threadIdx.x;
    if (threadIdx.x % 2 == 0) atomicAdd(counter, 1);  // OTHER
    if (BUGGY) seen[i] = *counter;  // BUG: global-race
    else seen[i] = *(volatile int *)counter;
}
