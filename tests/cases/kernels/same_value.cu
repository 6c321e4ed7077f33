// Several warps write a flag: a race if the values differ, worth a word if they are all the same.
// launch: grid=1 block=128 args=i4[128]:arange,out:i4[1]
extern "C" __global__ void same_value(const int *x, int *y) {
    __shared__ int found;
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    if (x[threadIdx.x] % 32 == 5) found = BUGGY ? x[threadIdx.x] : 1;  // BUG: shared-race WARNING: shared-race
    __syncthreads();
    if (threadIdx.x == 0) y[0] = found;
}
