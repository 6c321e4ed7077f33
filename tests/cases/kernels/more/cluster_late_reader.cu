// A block ends while its neighbour still reads its shared memory.
// launch: grid=4 block=32 args=i4[128]:rand,i4[128]
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void __cluster_dims__(2, 1, 1) cluster_late_reader(const int *x, int *y) {
    __shared__ int s[32];
    auto cluster = cg::this_cluster();
    int t = threadIdx.x, i = blockIdx.x * 32 + t;
    s[t] = x[i];
    cluster.sync();
    if (cluster.block_rank() == 1) y[i] = cluster.map_shared_rank(s, 0)[31 - t];  // BUG: cluster-memory
    if (!BUGGY) cluster.sync();
}
