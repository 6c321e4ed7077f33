// The host takes ceil of an integer division, which has been rounded down before: the last block is missing.
// launch buggy: grid=3 block=32 args=f4[100]:rand,out:f4[100],i4=100
// launch clean: grid=4 block=32 args=f4[100]:rand,out:f4[100],i4=100
extern "C" __global__ void truncated_grid(const float *x, float *y, int n) {  // BUG: unwritten-output y
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}
