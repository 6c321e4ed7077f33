// Odd-even merge between neighbouring blocks in one launch: the second pass needs the first one's end.
// launch: grid=4 block=16 args=i4[128]:perm
extern "C" __global__ void block_swap(int *a) {
    int i = blockIdx.x * 16 + threadIdx.x;
    if (a[2 * i] > a[2 * i + 1]) { int v = a[2 * i]; a[2 * i] = a[2 * i + 1]; a[2 * i + 1] = v; }  // OTHER
#if BUGGY
    __syncthreads();
    if (2 * i + 2 < 128 && a[2 * i + 1] > a[2 * i + 2]) {  // BUG: global-race
        int v = a[2 * i + 1]; a[2 * i + 1] = a[2 * i + 2]; a[2 * i + 2] = v;  // OTHER
    }
#endif
}
