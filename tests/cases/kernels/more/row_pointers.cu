// The rows of a sparse matrix need one pointer more than there are rows.
// launch buggy: grid=1 block=32 args=i4[32]:range,f4[64]:rand,f4[32]
// launch clean: grid=1 block=32 args=i4[33]:range,f4[64]:rand,f4[32]
extern "C" __global__ void row_pointers(const int *start, const float *value, float *y) {
    int row = threadIdx.x;
    float sum = 0;
    for (int k = start[row]; k < start[row + 1]; k++) sum += value[k];  // BUG: out-of-bounds
    y[row] = sum;
}
