// The filter in constant memory has nine taps; a radius of five needs eleven.
// launch: grid=2 block=32 args=f4[128]:rand,out:f4[64],i4=5
__constant__ float tap[9] = {1, 2, 3, 4, 5, 4, 3, 2, 1};
extern "C" __global__ void constant_radius(const float *x, float *y, int radius) {
    int i = blockIdx.x * 32 + threadIdx.x;
    float sum = 0;
    if (!BUGGY) radius = 4;
    for (int k = 0; k <= 2 * radius; k++) sum += tap[k] * x[i + k];  // BUG: out-of-bounds
    y[i] = sum;
}
