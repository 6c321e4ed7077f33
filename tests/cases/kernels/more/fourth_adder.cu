// Three warps add atomically, the fourth by a plain read and write after the others' flag, which only one of them raises.
// launch: grid=1 block=128 args=out:i4[1]
extern "C" __global__ void fourth_adder(int *y) {
    __shared__ int total, flag;
    int w = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (threadIdx.x == 0) { total = 0; flag = 0; }
    __syncthreads();
    if (lane == 0) {
        if (w < 3) {
            atomicAdd(&total, w + 1);  // OTHER
            __threadfence_block();
            if (!BUGGY || w == 2) atomicAdd(&flag, 1);
        } else {
            while (atomicAdd(&flag, 0) < (BUGGY ? 1 : 3)) { }
            __threadfence_block();
            total = total + 10;  // BUG: shared-race
            *y = total;  // BUG: shared-race
        }
    }
}
