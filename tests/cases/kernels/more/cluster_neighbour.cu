// A block reads its neighbour's shared memory in the cluster, which may not have been written yet.
// launch: grid=4 block=32 args=out:i4[128]
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void __cluster_dims__(2, 1, 1) cluster_neighbour(int *y) {
    __shared__ int s[32];
    cg::cluster_group cluster = cg::this_cluster();
    int t = threadIdx.x;
    s[t] = blockIdx.x * 100 + t;  // OTHER
    if (BUGGY) __syncthreads(); else cluster.sync();
    int *other = cluster.map_shared_rank(s, cluster.block_rank() ^ 1);
    y[blockIdx.x * 32 + t] = other[31 - t];  // BUG: shared-race
    cluster.sync();
}
