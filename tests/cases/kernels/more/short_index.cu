// An index kept in a short runs over at 32768.
// launch: grid=1 block=64 args=i4[40000],i4=39936
extern "C" __global__ void short_index(int *y, int first) {
    short narrow = first + threadIdx.x;
    int wide = first + threadIdx.x;
    if (BUGGY) y[narrow] = 1;  // BUG: out-of-bounds
    else y[wide] = 1;
}
