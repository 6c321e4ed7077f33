// The convergence flag is cleared for the next pass before the slower warps have read it.
// launch: grid=1 block=96 args=i4[96]:rand,i4[96]
extern "C" __global__ void flag_decides_loop(const int *x, int *y) {
    __shared__ int again;
    int t = threadIdx.x, v = x[t] & 15, pass = 0;
    do {
        if (t == 0) again = 0;  // BUG: shared-race
        __syncthreads();
        if (v > 0) {
            v--;
            again = 1;  // WARNING: shared-race OTHER
        }
        __syncthreads();
        pass++;
        if (!BUGGY) {
            int go = again;
            __syncthreads();
            if (!go) break;
        } else if (!again) break;  // OTHER
    } while (true);
    y[t] = pass;
}
