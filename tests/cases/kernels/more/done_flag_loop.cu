// A loop asks a shared flag that one thread sets anew in the next turn.
// launch: grid=1 block=96 args=f4[1]:rand,i4[96]
extern "C" __global__ void done_flag_loop(const float *x, int *y) {
    __shared__ bool done;
    int turns = 0;
    if (threadIdx.x == 0) done = false;
    __syncthreads();
    while (!done) {  // OTHER
        if (!BUGGY) __syncthreads();
        turns++;
        if (threadIdx.x == 0) done = turns * x[0] > 2 || turns > 9;  // BUG: shared-race
        __syncthreads();
    }
    y[threadIdx.x] = turns;
}
