// The flag is polled by an atomic that changes nothing; the data still need fences on both sides.
// launch: grid=3 block=32 args=f4[96]:rand,f4[96],i4[3],out:f4[96]
extern "C" __global__ void poll_by_atomic(const float *x, float *box, int *flag, float *y) {
    int b = blockIdx.x, t = threadIdx.x;
    box[32 * b + t] = x[32 * b + t];  // OTHER
    if (!BUGGY) __threadfence();
    __syncthreads();
    if (t == 0) atomicExch(&flag[b], 1);
    if (b > 0 && t == 0) {
        while (atomicAdd(&flag[b - 1], 0) == 0) {}
        if (!BUGGY) __threadfence();
    }
    __syncthreads();
    y[32 * b + t] = b > 0 ? box[32 * (b - 1) + 31 - t] : 0;  // BUG: global-race
}
