// Work is taken from a queue by the first thread; the others read the ticket before it has been written.
// launch: grid=3 block=64 args=i4[1],i4[640]
extern "C" __global__ void ticket_queue(int *next, int *y) {
    __shared__ int ticket;
    while (true) {
        if (threadIdx.x == 0) ticket = atomicAdd(next, 1);  // BUG: shared-race
        __syncthreads();
        int mine = ticket;  // OTHER
        if (!BUGGY) __syncthreads();
        if (mine >= 10) break;
        y[mine * 64 + threadIdx.x] = mine;
    }
}
