// A scan that swaps two buffers and waits only once every second step.
// launch: grid=1 block=128 args=i4[128]:rand,i4[128]
extern "C" __global__ void scan_ping_pong(const int *x, int *y) {
    __shared__ int a[2][128];
    int t = threadIdx.x, now = 0;
    a[0][t] = x[t];
    __syncthreads();
    for (int d = 1; d < 128; d *= 2) {
        a[1 - now][t] = a[now][t] + (t >= d ? a[now][t - d] : 0);  // BUG: shared-race
        now = 1 - now;
        if (!BUGGY || now == 0) __syncthreads();
    }
    __syncthreads();
    y[t] = a[now][t];
}
