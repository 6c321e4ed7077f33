// malloc may fail, and the kernel does not ask.
// launch: grid=1 block=2 args=out:i4[2],i8=100000000
extern "C" __global__ void null_pointer(int *y, long long n) {
    int *scratch = static_cast<int *>(malloc(n * sizeof(int)));
    if (!BUGGY && scratch == nullptr) {
        y[threadIdx.x] = -1;
        return;
    }
    scratch[threadIdx.x] = 1;  // BUG: out-of-bounds
    y[threadIdx.x] = scratch[threadIdx.x];
    free(scratch);
}
