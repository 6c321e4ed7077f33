// Every warp that finds a negative value writes the index where it did; only the value 1 would be the same for all.
// launch: grid=1 block=128 args=i4[128]:arange,out:i4[1]
extern "C" __global__ void same_flag(const int *x, int *y) {
    __shared__ int found;
    int t = threadIdx.x;
    if (t == 0) found = -1;
    __syncthreads();
    if (x[t] % 40 == 7) found = BUGGY ? t : 1;  // BUG: shared-race WARNING: shared-race
    __syncthreads();
    if (t == 0) y[0] = found;
}
