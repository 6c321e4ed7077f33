// Half-precision pairs are loaded two at a time although the last one has no partner.
// launch: grid=1 block=64 args=f2[101]:rand,out:f4[51],i4=101
#include <cuda_fp16.h>
extern "C" __global__ void odd_count_halves(const __half *x, float *y, int n) {
    int t = threadIdx.x;
    if (t < (n + 1) / 2) {
        if (BUGGY || 2 * t + 1 < n) {
            __half2 pair = reinterpret_cast<const __half2 *>(x)[t];  // BUG: out-of-bounds
            y[t] = __low2float(pair) + __high2float(pair);
        } else {
            y[t] = __half2float(x[2 * t]);
        }
    }
}
