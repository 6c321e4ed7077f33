// A level of a breadth-first search: many find the same neighbour and write the same level, which is harmless.
// launch: grid=2 block=32 args=i4[64]:perm,i4[64],i4=3
extern "C" __global__ void breadth_first(const int *neighbour, int *level, int now) {
    int i = blockIdx.x * 32 + threadIdx.x;
    int next = neighbour[i] / 4;
    level[next] = BUGGY ? now + i : now;  // BUG: global-race WARNING: global-race
}
