// CUB's temporary storage may be used again only behind a barrier.
// launch: grid=1 block=128 args=i4[128]:arange,out:i4[128]
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
extern "C" __global__ void cub_storage_reuse(const int *x, int *y) {
    using Scan = cub::BlockScan<int, 128>;
    using Reduce = cub::BlockReduce<int, 128>;
    __shared__ union { Scan::TempStorage scan; Reduce::TempStorage reduce; } storage;
    __shared__ int total;
    int before;
    Scan(storage.scan).ExclusiveSum(x[threadIdx.x], before);  // OTHER
    if (!BUGGY) __syncthreads();
    int sum = Reduce(storage.reduce).Sum(x[threadIdx.x]);  // BUG: shared-race
    if (threadIdx.x == 0) total = sum;
    __syncthreads();
    y[threadIdx.x] = before - total;
}
