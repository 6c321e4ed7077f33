// One lane prepares a table for its warp and goes on without a warp barrier behind the branch.
// launch: grid=1 block=64 args=i4[64]:arange,out:i4[64]
extern "C" __global__ void syncwarp_after_branch(const int *x, int *y) {
    __shared__ int table[2][8];
    int t = threadIdx.x, w = t / 32, l = t % 32;
    if (l == 0) for (int k = 0; k < 8; k++) table[w][k] = x[32 * w + k] * k;  // OTHER
    if (!BUGGY) __syncwarp();
    y[t] = table[w][l % 8];  // BUG: warp-race
}
