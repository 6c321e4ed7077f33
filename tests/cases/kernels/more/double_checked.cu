// A table is made by whoever comes first; the others look at a plain flag.
// launch: grid=4 block=32 args=i4[1],i4[1],i4[1],i4[4]
extern "C" __global__ void double_checked(int *lock, int *made, int *table, int *y) {
    if (threadIdx.x != 0) return;
    if (!BUGGY || *made == 0) {  // OTHER
        while (atomicCAS(lock, 0, 1) != 0) { }
        __threadfence();
        if (*made == 0) {  // OTHER
            *table = 42;
            *made = 1;  // BUG: global-race
        }
        __threadfence();
        atomicExch(lock, 0);
    }
    if (!BUGGY) y[blockIdx.x] = *table;
}
