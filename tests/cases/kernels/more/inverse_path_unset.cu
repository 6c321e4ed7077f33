// The path that rarely happens forgets to set its result.
// launch: grid=1 block=64 args=i4[64]:arange,out:i4[64]
extern "C" __global__ void inverse_path_unset(const int *x, int *y) {
    int best[2];
    int v = x[threadIdx.x];
    if (v > 3) { best[0] = v; best[1] = -v; }
    else if (!BUGGY) { best[0] = 0; best[1] = 0; }
    y[threadIdx.x] = best[v & 1] + 1;  // BUG: uninitialised-read
}
