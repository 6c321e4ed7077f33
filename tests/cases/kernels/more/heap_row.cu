// A row from malloc is one element short.
// launch: grid=1 block=4 args=i4[16]:rand,i4[4],i4=4
extern "C" __global__ void heap_row(const int *x, int *y, int n) {
    int t = threadIdx.x;
    int *row = static_cast<int *>(malloc((BUGGY ? n - 1 : n) * sizeof(int)));
    if (row == nullptr) return;
    for (int k = 0; k < n; k++) row[k] = x[n * t + k];  // BUG: out-of-bounds
    int sum = 0;
    for (int k = n - 1; k >= 0; k--) sum = 2 * sum + row[k];  // BUG: out-of-bounds
    y[t] = sum;
    free(row);
}
