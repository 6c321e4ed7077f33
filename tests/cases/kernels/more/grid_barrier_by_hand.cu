// Blocks wait for each other by a counter; the second wait looks for the first one's count.
// launch: grid=4 block=32 args=i4[1],i4[4],i4[4],i4[4]
__device__ void wait_for(int *count, int goal) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(count, 1);
        while (atomicAdd(count, 0) < goal) { }
        __threadfence();
    }
    __syncthreads();
}
extern "C" __global__ void grid_barrier_by_hand(int *count, int *a, int *b, int *y) {
    int i = blockIdx.x;
    if (threadIdx.x == 0) a[i] = i;
    wait_for(count, 4);
    if (threadIdx.x == 0) b[i] = a[(i + 1) % 4];  // OTHER
    wait_for(count, BUGGY ? 4 : 8);
    if (threadIdx.x == 0) y[i] = b[(i + 2) % 4];  // BUG: global-race
}
