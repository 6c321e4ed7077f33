// Kernels in which threads miss a barrier of their cluster of two blocks (bad_*, at the line that says so) or
// do not (good_*). Launched as those of barriers.cu.
#define _CG_LIMIT_INCLUDED_DEPENDENCIES  // without libcu++ it compiles 20 times as quickly
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
#define PAIR(name) extern "C" __global__ void __cluster_dims__(2, 1, 1) name(const float *x, float *y, int n)
#define BAD(name) PAIR(bad_##name)
#define GOOD(name) PAIR(good_##name)
#define INDEX \
    auto cluster = cg::this_cluster(); \
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t

BAD(cluster_half_warp) {
    INDEX;
    if (t < 16)
        cluster.sync();  // warning
    y[i] = x[i];
}
BAD(cluster_warp) {
    INDEX;
    y[i] = x[i];
    if (t < 32) {
        y[i] += 1;
        cluster.sync();  // warning
    }
}
BAD(cluster_block) {
    INDEX;
    if (cluster.block_rank() == 1) {
        y[i] = x[i];
        cluster.sync();  // warning
    }
    y[i] += 1;
}
BAD(cluster_loop) {
    INDEX;
    for (int k = i; k < n; k += 64) {
        y[i] += x[k];
        cluster.sync();  // warning
    }
}
BAD(cluster_aligned) {
    INDEX;
    y[i] = x[i] + cluster.block_rank();
    if (t % 2)
        asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");  // error
}
BAD(cluster_later) {
    INDEX;
    if (cluster.block_rank() == 0)
        cluster.sync();
    y[i] = x[i];
    cluster.sync();  // error
    y[i] += 1;
}
BAD(cluster_lanes_later) {
    INDEX;
    if (t & 4)
        cluster.sync();
    y[i] = x[i];
    cluster.sync();  // error
}
GOOD(cluster_all) {
    INDEX;
    y[i] = x[i];
    cluster.sync();
    if (n > 100)
        cluster.sync();
    y[i] += 1;
}
GOOD(cluster_returned) {
    INDEX;
    if (i >= n)
        return;
    y[i] = x[i];
    cluster.sync();
    if (t > 20)
        return;
    y[i] += 1;
    cluster.sync();
    y[i] += 1;
}
GOOD(cluster_roles) {
    INDEX;
    if (t < 32) {
        y[i] = x[i];
        cluster.sync();
        y[i] += 1;
        cluster.sync();
    } else {
        for (int k = 0; k < 2; k++) {
            y[i] += 1;
            cluster.sync();
        }
    }
}
GOOD(cluster_arrive) {
    INDEX;
    if (cluster.block_rank() == 0) {
        auto token = cluster.barrier_arrive();
        y[i] = x[i];
        cluster.barrier_wait(std::move(token));
    } else {
        cluster.sync();
    }
}
GOOD(cluster_left_together) {
    INDEX;
    for (int k = 0; k < n; k++) {
        y[i] += x[i];
        cluster.sync();
        if (k == 3)
            break;
    }
}
