// One warp fills a slot and raises a flag; two consumers wait for it, the third reads at once.
// launch: grid=1 block=128 args=out:i4[128]
extern "C" __global__ void third_consumer(int *y) {
    __shared__ int slot[32];
    __shared__ int ready;
    int w = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (w == 0) {
        slot[lane] = lane * 3;  // OTHER
        __syncwarp();
        __threadfence_block();
        if (lane == 0) atomicExch(&ready, 1);
        y[threadIdx.x] = 0;
    } else {
        if (!BUGGY || w < 3) {
            while (atomicAdd(&ready, 0) == 0) { }
            __threadfence_block();
        }
        y[threadIdx.x] = slot[31 - lane];  // BUG: shared-race
    }
}
