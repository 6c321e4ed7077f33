// A thread clears the whole table by memset; the others may not touch it before a barrier.
// launch: grid=1 block=64 args=u1[64]:rand,out:u4[8]
extern "C" __global__ void zeroed_by_memset(const unsigned char *x, unsigned *y) {
    __shared__ unsigned table[8];
    if (threadIdx.x == 0) memset(table, 0, sizeof table);  // OTHER
    if (BUGGY) __syncwarp();
    else __syncthreads();
    atomicAdd(&table[x[threadIdx.x] % 8], 1u);  // BUG: shared-race
    __syncthreads();
    if (threadIdx.x < 8) y[threadIdx.x] = table[threadIdx.x];
}
