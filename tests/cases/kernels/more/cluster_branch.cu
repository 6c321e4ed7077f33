// A warp of each block goes past the barrier of the cluster to the kernel's end.
// launch: grid=4 block=64 args=f4[256]:rand,f4[256]
#include <cooperative_groups.h>
extern "C" __global__ void __cluster_dims__(2, 1, 1) cluster_branch(const float *x, float *y) {
    auto cluster = cooperative_groups::this_cluster();
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    y[i] = x[i];
    if (!BUGGY || t < 32) cluster.sync();  // BUG: barrier-divergence
    y[i] += 1;
}
