// Compressed rows: the last row's end is read one past the row pointers.
// launch: grid=1 block=32 args=i4[33]:arange,f4[64]:rand,out:f4[32],i4=32
extern "C" __global__ void sparse_rows(const int *row, const float *v, float *y, int n) {
    int r = threadIdx.x + BUGGY;
    float sum = 0;
    for (int k = row[r]; k < row[r + 1]; k++) sum += v[k];  // BUG: out-of-bounds
    y[threadIdx.x] = sum;
}
