// A block repeats until nothing changes; the flag is cleared while slower threads still read it.
// launch: grid=1 block=128 args=i4[128]:rand,i4[128]
extern "C" __global__ void changed_flag(const int *x, int *y) {
    __shared__ int v[129], changed;
    int t = threadIdx.x;
    v[t] = x[t] & 1023;
    if (t == 0) v[128] = 0;
    if (t == 0) changed = 1;
    __syncthreads();
    while (changed) {  // OTHER
        if (!BUGGY) __syncthreads();
        if (t == 0) changed = 0;  // BUG: shared-race
        __syncthreads();
        int up = v[t + 1];
        __syncthreads();
        if (up > v[t]) {
            v[t] = up;
            atomicExch(&changed, 1);
        }
        __syncthreads();
    }
    y[t] = v[t];
}
