// A fence makes writes visible but does not wait for them; threads of a block that exchange values need a barrier.
// launch: grid=2 block=64 args=f4[128]:rand,f4[128],out:f4[128]
extern "C" __global__ void scratch_in_block(const float *x, float *scratch, float *y) {
    int i = blockIdx.x * 64 + threadIdx.x;
    scratch[i] = x[i];  // OTHER
    if (BUGGY) __threadfence();
    else __syncthreads();
    y[i] = scratch[i ^ 32];  // BUG: global-race
}
