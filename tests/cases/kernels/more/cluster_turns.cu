// Blocks of a cluster go round a loop with a barrier of the cluster as often as each has elements.
// launch: grid=2 block=32 args=f4[160]:rand,f4[64],i4=160
#include <cooperative_groups.h>
extern "C" __global__ void __cluster_dims__(2, 1, 1) cluster_turns(const float *x, float *y, int n) {
    __shared__ float sums[32];
    auto cluster = cooperative_groups::this_cluster();
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, turns = (n + 63) / 64;
    float sum = 0;
    for (int k = 0; BUGGY ? i + 64 * k < n : k < turns; k++) {
        sums[t] = i + 64 * k < n ? x[i + 64 * k] : 0;
        cluster.sync();  // BUG: barrier-divergence
        sum += cluster.map_shared_rank(sums, 1 - cluster.block_rank())[t];
        cluster.sync();  // BUG: barrier-divergence
    }
    y[i] = sum;
}
