// The scale is read by all blocks and reset by the last one at its end.
// launch: grid=3 block=64 args=f4[192]:rand,out:f4[192],f4[1]:one
extern "C" __global__ void normalise_first(const float *x, float *y, float *scale) {
    int i = blockIdx.x * 64 + threadIdx.x;
    y[i] = x[i] * scale[0];  // OTHER
    __syncthreads();
    if (BUGGY && i == 128) scale[0] = 0;  // BUG: global-race
}
