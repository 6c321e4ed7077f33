// All threads of a block leave a loop together, by a flag that every one of them reads between two barriers.
// launch: grid=2 block=64 args=i4[128]:perm,out:i4[128]
extern "C" __global__ void early_exit_loop(const int *x, int *y) {
    __shared__ int s[64], moved;
    int t = threadIdx.x;
    s[t] = x[blockIdx.x * 64 + t];
    for (int k = 0; k < 64; k++) {
        if (t == 0) moved = 0;  // OTHER
        __syncthreads();
        int i = 2 * t + k % 2;
        if (i + 1 < 64 && s[i] > s[i + 1]) { int v = s[i]; s[i] = s[i + 1]; s[i + 1] = v; atomicOr(&moved, 1); }
        __syncthreads();
        int go_on = moved;  // BUG: shared-race
        if (!BUGGY) __syncthreads();
        if (!go_on && k % 2) break;
    }
    __syncthreads();
    y[blockIdx.x * 64 + t] = s[t];
}
