// Thread 0 stores the total for all, who read it at once: only the lanes of its own warp may have it by then.
// launch: grid=2 block=96 args=f4[192]:rand,out:f4[192]
extern "C" __global__ void broadcast_total(const float *x, float *y) {
    __shared__ float total;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) total = x[i];  // OTHER
    if (BUGGY) __syncwarp();
    else __syncthreads();
    y[i] = x[i] / total;  // BUG: shared-race
}
