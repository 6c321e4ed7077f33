// A stencil writes into the array that its neighbours in other blocks still read.
// launch: grid=4 block=64 args=f4[256]:rand,f4[256]
extern "C" __global__ void stencil_global(float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    float left = x[(i + n - 1) % n];  // OTHER
    float right = x[(i + 1) % n];  // OTHER
    (BUGGY ? x : y)[i] = (left + right) / 2;  // BUG: global-race
}
