// A bitonic network synchronises warps only where the distance is below 32, one step too many.
// launch: grid=1 block=128 args=i4[128]:perm,out:i4[128]
extern "C" __global__ void parallel_swap_sort(const int *x, int *y) {
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    for (int k = 2; k <= 128; k *= 2)
        for (int j = k / 2; j > 0; j /= 2) {
            int other = t ^ j;
            if (other > t) {
                int a = s[t], b = s[other];  // BUG: shared-race
                if ((a > b) == ((t & k) == 0)) { s[t] = b; s[other] = a; }  // BUG: shared-race
            }
            if (j > (BUGGY ? 32 : 16) && j != 32) __syncthreads();
            else if (BUGGY ? j > 1 : (j > 1 && j < 32)) __syncwarp();
            else __syncthreads();
        }
    y[t] = s[t];
}
