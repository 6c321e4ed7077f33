// A flag is raised by an atomic of the system's scope; the data before it still need a fence.
// launch: grid=2 block=32 args=f4[32]:rand,f4[32],i4[1],out:f4[32]
extern "C" __global__ void system_flag(const float *x, float *box, int *flag, float *y) {
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        box[t] = x[t];  // OTHER
        if (!BUGGY) __threadfence_system();
        __syncwarp();
        if (t == 0) atomicExch_system(flag, 1);
    } else {
        if (t == 0) while (atomicAdd_system(flag, 0) == 0) {}
        __syncwarp();
        __threadfence_system();
        y[t] = box[t];  // BUG: global-race
    }
}
