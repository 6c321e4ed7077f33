// The barrier that counts stands behind && and is not for all.
// launch: grid=1 block=64 args=i4[64]:rand,i4[64]
extern "C" __global__ void short_circuit(const int *x, int *y) {
    int t = threadIdx.x, all = 0;
    if (BUGGY) {
        all = (x[t] & 1) && __syncthreads_or(x[t] > 9);  // BUG: barrier-divergence
    } else {
        int any = __syncthreads_or(x[t] > 9);
        all = (x[t] & 1) && any;
    }
    y[t] = all;
}
