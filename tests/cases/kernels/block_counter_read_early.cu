// The last warp's last lane reads how many were counted; the other warps may not have counted by then.
// launch: grid=1 block=128 args=i4[128]:rand,out:i4[1]
extern "C" __global__ void block_counter_read_early(const int *x, int *y) {
    __shared__ int count;
    int t = threadIdx.x;
    if (t == 0) count = 0;
    __syncthreads();
    if (x[t] >= 0) atomicAdd(&count, 1);  // OTHER
    if (!BUGGY) __syncthreads();
    if (t == 127) y[0] = count;  // BUG: shared-race
}
