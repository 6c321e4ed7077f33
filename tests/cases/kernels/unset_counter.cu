// A counter in shared memory is added to without having been set.
// launch: grid=2 block=64 args=i4[128]:rand,out:i4[2]
extern "C" __global__ void unset_counter(const int *x, int *y) {
    __shared__ int count;
    if (!BUGGY && threadIdx.x == 0) count = 0;
    __syncthreads();
    if (x[blockIdx.x * 64 + threadIdx.x] % 2) atomicAdd(&count, 1);  // BUG: uninitialised-read
    __syncthreads();
    if (threadIdx.x == 0) y[blockIdx.x] = count;
}
