// Threads past the end return before a warp reduction whose mask still names them; they should add zero instead.
// launch: grid=1 block=64 args=f4[50]:rand,f4[1],i4=50
extern "C" __global__ void reduce_after_return(const float *x, float *sum, int n) {
    int i = threadIdx.x;
    if (BUGGY && i >= n) return;
    float v = i < n ? x[i] : 0;
    for (int offset = 16; offset > 0; offset /= 2)
        v += __shfl_xor_sync(0xffffffffu, v, offset);  // BUG: sync-mask
    if (i % 32 == 0) atomicAdd(sum, v);
}
