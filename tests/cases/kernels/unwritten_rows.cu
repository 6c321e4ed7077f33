// Each thread handles two rows, but the second one of a pair only if both are even.
// launch: grid=1 block=32 args=f4[64]:rand,out:f4[64]
extern "C" __global__ void unwritten_rows(const float *x, float *y) {  // BUG: unwritten-output y
    int first = 2 * threadIdx.x, second = first + 1;
    y[first] = -x[first];
    if (!BUGGY || second % 2 == 0) y[second] = -x[second];
}
