// CUB sorts a block's keys and then lets its neighbours' be compared, which needs them to be there.
// launch: grid=1 block=64 args=u4[256]:rand,out:u4[256],out:u1[64]
#include <cub/block/block_radix_sort.cuh>
extern "C" __global__ void radix_sort_block(const unsigned *x, unsigned *y, bool *same) {
    using Sort = cub::BlockRadixSort<unsigned, 64, 4>;
    __shared__ Sort::TempStorage storage;
    __shared__ unsigned last[64];
    unsigned key[4];
    int t = threadIdx.x;
    for (int i = 0; i < 4; i++) key[i] = x[4 * t + i];
    Sort(storage).Sort(key);
    for (int i = 0; i < 4; i++) y[4 * t + i] = key[i];
    last[t] = key[3];  // OTHER
    if (!BUGGY) __syncthreads();
    same[t] = t > 0 && last[t - 1] == key[0];  // BUG: shared-race
}
