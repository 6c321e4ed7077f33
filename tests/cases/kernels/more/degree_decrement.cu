// A topological order counts the edges that are left, by hand.
// launch: grid=2 block=64 args=i4[128]:rand,i4[16],i4[16]
extern "C" __global__ void degree_decrement(const int *edge, int *left, int *ready) {
    int v = edge[blockIdx.x * 64 + threadIdx.x] & 15;
#if BUGGY
    if (--left[v] == 0) ready[v] = 1;  // BUG: global-race
#else
    if (atomicSub(&left[v], 1) == 1) ready[v] = 1;
#endif
}
