// Both branches of a clean-up free the same memory.
// launch: grid=1 block=2 args=out:i4[2]
extern "C" __global__ void double_free(int *y) {
    int *scratch = static_cast<int *>(malloc(64));
    for (int i = 0; i < 16; i++) scratch[i] = i + threadIdx.x;
    y[threadIdx.x] = scratch[threadIdx.x + 3];
    free(scratch);
    if (BUGGY && y[threadIdx.x] > 0) free(scratch);  // BUG: use-after-free
}
