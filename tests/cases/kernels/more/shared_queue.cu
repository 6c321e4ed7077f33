// Work is taken from a queue in shared memory by one lane for its warp; the warp must have left the last item.
// launch: grid=1 block=64 args=i4[40]:arange,i4[40]
extern "C" __global__ void shared_queue(const int *x, int *y) {
    __shared__ int next, item[2];
    int w = threadIdx.x / 32, l = threadIdx.x % 32;
    if (threadIdx.x == 0) next = 0;
    __syncthreads();
    while (true) {
        if (l == 0) item[w] = atomicAdd(&next, 1);  // BUG: warp-race
        __syncwarp();
        int mine = item[w];  // OTHER
        if (!BUGGY) __syncwarp();
        if (mine >= 40) break;
        if (l == mine % 32) y[mine] = 2 * x[mine];
    }
}
