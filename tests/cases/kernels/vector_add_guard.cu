// The grid is rounded up to whole blocks, so the last block has threads past the end that need a guard.
// launch: grid=4 block=32 args=f4[100]:rand,f4[100]:rand,out:f4[100],i4=100
extern "C" __global__ void vector_add_guard(const float *a, const float *b, float *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (!BUGGY && i >= n) return;
    c[i] = a[i] + b[i];  // BUG: out-of-bounds
}
