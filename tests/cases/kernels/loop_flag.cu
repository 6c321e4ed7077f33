// Thread 0 may set the flag for the next round before a slow warp has read it for this one.
// launch: grid=1 block=64 args=i4[64]:arange,out:i4[64]
extern "C" __global__ void loop_flag(const int *x, int *rounds) {
    __shared__ int left;
    int done = 0;
    do {
        if (threadIdx.x == 0) left = 5 + x[0] - done;  // BUG: shared-race
        __syncthreads();
        done++;
        if (left == 1) break;  // OTHER
        if (!BUGGY) __syncthreads();
    } while (true);
    rounds[threadIdx.x] = done;
}
