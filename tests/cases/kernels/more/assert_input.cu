// The kernel asserts that indices are sorted, and they are not.
// launch: grid=1 block=32 args=i4[32]:perm,out:i4[32]
#include <cassert>
extern "C" __global__ void assert_input(const int *x, int *y) {
    int i = threadIdx.x;
    if (BUGGY && i > 0) assert(x[i] > x[i - 1]);  // BUG: trap
    y[i] = x[i];
}
