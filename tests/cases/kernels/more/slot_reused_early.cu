// Three consumers count themselves off; the producer refills the slot after two of them.
// launch: grid=1 block=128 args=out:i4[128]
extern "C" __global__ void slot_reused_early(int *y) {
    __shared__ int slot[32];
    __shared__ int ready, done;
    int w = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (threadIdx.x == 0) { ready = 0; done = 0; }
    __syncthreads();
    if (w == 0) {
        slot[lane] = lane;
        __syncwarp();
        __threadfence_block();
        if (lane == 0) atomicExch(&ready, 1);
        while (atomicAdd(&done, 0) < (BUGGY ? 64 : 96)) { }
        __threadfence_block();
        slot[lane] = -lane;  // BUG: shared-race
        y[threadIdx.x] = 0;
    } else {
        while (atomicAdd(&ready, 0) == 0) { }
        __threadfence_block();
        y[threadIdx.x] = slot[31 - lane];  // OTHER
        __threadfence_block();
        atomicAdd(&done, 1);
    }
}
