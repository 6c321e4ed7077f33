// The last turn's lanes wait for all of the warp, who wait for the block.
// launch: grid=1 block=64 args=i4[80]:rand,i4[64],i4=80
extern "C" __global__ void syncwarp_in_tail(const int *x, int *y, int n) {
    __shared__ int s[64];
    int t = threadIdx.x, sum = 0;
    for (int i = t; i < (BUGGY ? n : (n + 63) / 64 * 64); i += 64) {
        s[t] = i < n ? x[i] : 0;
        __syncwarp();  // BUG: sync-mask
        sum += s[t ^ 1];
        __syncwarp();
    }
    __syncthreads();
    y[t] = sum;
}
