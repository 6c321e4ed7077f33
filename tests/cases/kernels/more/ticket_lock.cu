// A ticket lock: taking one's number is atomic, but the number being served is advanced before the work is done.
// launch: grid=3 block=32 args=u4[1],u4[1],f4[1]
extern "C" __global__ void ticket_lock(unsigned *next, unsigned *serving, float *sum) {
    if (threadIdx.x == 0) {
        unsigned mine = atomicAdd(next, 1);
        while (atomicAdd(serving, 0) != mine) {}
        __threadfence();
        if (BUGGY) atomicAdd(serving, 1);
        *sum += blockIdx.x;  // BUG: global-race
        __threadfence();
        if (!BUGGY) atomicAdd(serving, 1);
    }
}
