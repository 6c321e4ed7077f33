// The test before an atomic maximum reads the cell by a plain load while others update it.
// launch: grid=4 block=64 args=i4[256]:perm,i4[1]
extern "C" __global__ void conditional_atomic(const int *x, int *largest) {
    int v = x[blockIdx.x * 64 + threadIdx.x], before;
    if (BUGGY) before = *largest;  // BUG: global-race
    else before = *(volatile int *)largest;
    if (v > before) atomicMax(largest, v);  // OTHER
}
