// A block ends while another of its cluster still reads its shared memory.
// launch: grid=4 block=64 args=f4[256]:rand,out:f4[256]
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void __cluster_dims__(4, 1, 1) cluster_tail(const float *x, float *y) {
    __shared__ float part[64];
    cg::cluster_group cluster = cg::this_cluster();
    int t = threadIdx.x;
    part[t] = x[blockIdx.x * 64 + t];
    cluster.sync();
    float sum = 0;
    for (int rank = 0; rank < cluster.num_blocks(); rank++)
        sum += cluster.map_shared_rank(part, rank)[63 - t];  // BUG: cluster-memory
    if (!BUGGY) cluster.sync();
    y[blockIdx.x * 64 + t] = sum;
}
