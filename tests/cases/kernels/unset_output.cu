// The result is added to what the output array held before, which nobody has set.
// launch: grid=1 block=64 args=f4[64]:rand,out:f4[64]
extern "C" __global__ void unset_output(const float *x, float *y) {
    if (!BUGGY) y[threadIdx.x] = 0;
    y[threadIdx.x] += x[threadIdx.x];  // BUG: uninitialised-read
}
