// A private list is filled as far as there is input, and its last entry is kept for the result.
// launch: grid=1 block=32 args=i4[32]:perm,out:i4[32]
extern "C" __global__ void local_default(const int *x, int *y) {
    int list[8], n = 0, t = threadIdx.x;
    for (int k = 0; k < 8; k++) if (x[(t + k) % 32] % 3 == 0) list[n++] = x[(t + k) % 32];
    int last = -1;
    for (int k = 0; k < 8; k++) { int v = list[k]; if (BUGGY ? k <= n : k < n) last = v; }  // BUG: uninitialised-read
    y[t] = last;
}
