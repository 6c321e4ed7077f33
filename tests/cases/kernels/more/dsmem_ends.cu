// A block reads its neighbour's shared memory last, and the neighbour has gone.
// launch: grid=2 block=32 args=i4[64]:rand,i4[64]
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void __cluster_dims__(2, 1, 1) dsmem_ends(const int *x, int *y) {
    __shared__ int s[32];
    auto cluster = cg::this_cluster();
    int t = threadIdx.x;
    s[t] = x[blockIdx.x * 32 + t];
    cluster.sync();
    int *other = cluster.map_shared_rank(s, cluster.block_rank() ^ 1);
    y[blockIdx.x * 32 + t] = other[31 - t];  // BUG: cluster-memory
    if (!BUGGY) cluster.sync();
}
