// Memory for n integers is asked for as n bytes.
// launch: grid=1 block=2 args=out:i4[2],i4=64
extern "C" __global__ void malloc_past_end(int *y, int n) {
    int *scratch = static_cast<int *>(malloc(BUGGY ? n : n * sizeof(int)));
    for (int i = 0; i < n; i++) scratch[i] = i * threadIdx.x;  // BUG: out-of-bounds
    y[threadIdx.x] = scratch[n - 1];  // BUG: out-of-bounds
    free(scratch);
}
