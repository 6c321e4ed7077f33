// A lock in shared memory protects a sum only if it is released behind a fence and taken before one.
// launch: grid=1 block=128 args=f4[128]:rand,out:f4[1]
extern "C" __global__ void block_lock(const float *x, float *y) {
    __shared__ int lock;
    __shared__ float sum;
    if (threadIdx.x == 0) { lock = 0; sum = 0; }
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        while (atomicCAS(&lock, 0, 1) != 0) {}
        if (!BUGGY) __threadfence_block();
        sum += x[threadIdx.x];  // BUG: shared-race
        if (!BUGGY) __threadfence_block();
        atomicExch(&lock, 0);
    }
    __syncthreads();
    if (threadIdx.x == 0) y[0] = sum;
}
