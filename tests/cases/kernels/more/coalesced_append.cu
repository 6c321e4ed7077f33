// Threads that found something form a group, whose leader reserves their places in the list.
// launch: grid=2 block=64 args=i4[128]:perm,i4[1],i4[128]
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void coalesced_append(const int *x, int *n, int *y) {
    int v = x[blockIdx.x * 64 + threadIdx.x];
    if (v % 3 == 0) {
        auto group = cg::coalesced_threads();
        int base = 0;
        if (group.thread_rank() == 0) base = BUGGY ? (*n += group.size()) - group.size() : atomicAdd(n, group.size());  // BUG: global-race
        base = group.shfl(base, 0);
        y[base + group.thread_rank()] = v;  // OTHER
    }
}
