// A warp's threads choose between two tables, one of which is only half filled.
// launch: grid=1 block=32 args=f4[32]:rand,out:f4[32],i4=16
extern "C" __global__ void select_pair(const float *x, float *y, int n) {
    __shared__ float a[32], b[32];
    int t = threadIdx.x;
    a[t] = x[t];
    if (BUGGY ? t < n - 1 : t < n) b[t] = -x[t];
    __syncwarp();
    float u = a[t], v = b[t];
    y[t] = 3 * (t < n ? v : u);  // BUG: uninitialised-read
}
