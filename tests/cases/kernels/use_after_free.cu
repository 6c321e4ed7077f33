// A thread frees its scratch memory before it has read the result from it.
// launch: grid=1 block=4 args=i4[4]:rand,out:i4[4]
extern "C" __global__ void use_after_free(const int *x, int *y) {
    int *scratch = static_cast<int *>(malloc(16 * sizeof(int)));
    for (int i = 0; i < 16; i++) scratch[(i * 5) & 15] = x[threadIdx.x] + i;
    if (BUGGY) free(scratch);
    y[threadIdx.x] = scratch[x[threadIdx.x] & 15];  // BUG: use-after-free
    if (!BUGGY) free(scratch);
}
