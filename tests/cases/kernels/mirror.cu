// A thread reads what a thread of another warp has written, without a barrier in between.
// launch: grid=1 block=128 args=f4[128]:rand,out:f4[128]
extern "C" __global__ void mirror(const float *x, float *y) {
    __shared__ float s[128];
    s[threadIdx.x] = x[threadIdx.x];  // OTHER
    if (!BUGGY) __syncthreads();
    y[threadIdx.x] = s[127 - threadIdx.x];  // BUG: shared-race
}
