// The kernel checks its own input and stops itself where a divisor is zero.
// launch: grid=1 block=32 args=i4[32]:arange,out:i4[32]
extern "C" __global__ void trap(const int *x, int *y) {
    int divisor = BUGGY ? x[threadIdx.x] : x[threadIdx.x] + 1;
    if (divisor == 0) __trap();  // BUG: trap
    y[threadIdx.x] = 1000 / divisor;
}
