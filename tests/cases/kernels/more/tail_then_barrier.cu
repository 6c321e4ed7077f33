// Lanes that have left the loop wait at the block's barrier while the others shuffle with all.
// launch: grid=1 block=64 args=i4[80]:rand,i4[64],i4=80
extern "C" __global__ void tail_then_barrier(const int *x, int *y, int n) {
    __shared__ int total[2];
    int t = threadIdx.x, sum = 0;
    for (int i = t; i < (BUGGY ? n : (n + 63) / 64 * 64); i += 64) {
        int v = i < n ? x[i] : 0;
        sum += __shfl_down_sync(0xffffffff, v, 8);  // BUG: sync-mask
    }
    if (t % 32 == 0) total[t / 32] = sum;
    __syncthreads();
    y[t] = total[0] + total[1];
}
