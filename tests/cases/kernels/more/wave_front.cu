// A wavefront over a tile's anti-diagonals has its barrier behind the loop instead of in it.
// launch: grid=1 block=64 args=i4[4096]:rand,i4[4096]
extern "C" __global__ void wave_front(const int *cost, int *best) {
    __shared__ int row[2][65];
    int t = threadIdx.x;
    row[0][t] = row[1][t] = 0;
    if (t == 63) row[0][64] = row[1][64] = 0;
    __syncthreads();
    for (int d = 0; d < 64; d++) {
        int (&from)[65] = row[d & 1], (&to)[65] = row[1 - (d & 1)];
        int a = from[t], b = from[t + 1];  // OTHER
        to[t] = max(a, b) + cost[64 * d + t] % 7;  // BUG: shared-race
        if (!BUGGY) __syncthreads();
    }
    best[t] = row[0][t];
}
