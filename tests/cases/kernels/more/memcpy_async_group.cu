// memcpy_async of a block needs its wait before the data are read.
// launch: grid=1 block=64 args=f4[64]:rand,out:f4[64]
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
extern "C" __global__ void memcpy_async_group(const float *x, float *y) {
    __shared__ __align__(16) float s[64];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, s, x, sizeof(float) * 64);  // OTHER
    if (BUGGY) block.sync(); else cg::wait(block);
    y[threadIdx.x] = s[63 - threadIdx.x];  // BUG: shared-race
}
