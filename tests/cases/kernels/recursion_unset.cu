// A function that calls itself fills a table of its caller's, but not where it ends.
// launch: grid=1 block=32 args=i4[32]:arange,out:i4[32]
__device__ __noinline__ void fill(int *table, int n) {
    if (n < (BUGGY ? 1 : 0)) return;
    table[n] = n * n;
    fill(table, n - 1);
}
extern "C" __global__ void recursion_unset(const int *x, int *y) {
    int table[8];
    fill(table, 7);
    y[threadIdx.x] = table[x[threadIdx.x] & 7] + 1;  // BUG: uninitialised-read
}
