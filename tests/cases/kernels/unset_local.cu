// A private table has a place that is set only for some inputs and read for all.
// launch: grid=1 block=32 args=i4[32]:arange,out:i4[32]
extern "C" __global__ void unset_local(const int *x, int *y) {
    int table[8];
    int v = x[threadIdx.x];
#pragma unroll 1
    for (int i = 0; i < (BUGGY ? v & 7 : 8); i++) table[i] = v + i;
    y[threadIdx.x] = table[v & 7] * 2;  // BUG: uninitialised-read
}
