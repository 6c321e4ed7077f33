// A median filter keeps a window of nine in local memory; at the border fewer are filled and all are sorted.
// launch: grid=1 block=64 args=i4[64]:perm,out:i4[64]
extern "C" __global__ void median_window(const int *x, int *y) {
    int w[5], n = 0, t = threadIdx.x;
    for (int d = -2; d <= 2; d++) if (t + d >= 0 && t + d < 64) w[n++] = x[t + d];
    int m = BUGGY ? 5 : n;
    for (int a = 1; a < m; a++)
        for (int b = a; b > 0 && w[b] < w[b - 1]; b--) { int v = w[b]; w[b] = w[b - 1]; w[b - 1] = v; }  // BUG: uninitialised-read
    y[t] = w[m / 2];  // BUG: uninitialised-read
}
