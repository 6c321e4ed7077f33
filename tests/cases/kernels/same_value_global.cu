// Every thread that finds the word says so in one flag: harmless with one value, a race with several.
// launch: grid=2 block=64 args=i4[128]:arange,i4[1]
extern "C" __global__ void same_value_global(const int *x, int *found) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (x[i] % 10 == 7) *found = BUGGY ? i : 1;  // BUG: global-race WARNING: global-race
}
