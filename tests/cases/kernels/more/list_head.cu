// Nodes are pushed to a list by compare and swap; the node's link is set after it is published.
// launch: grid=2 block=32 args=i4[1],i4[64],i4[64]:arange,i4[64]
extern "C" __global__ void list_head(int *head, int *next, const int *x, int *seen) {
    int i = blockIdx.x * 32 + threadIdx.x;
    int old = *(volatile int *)head, was;
    do {
        was = old;
        if (!BUGGY) { next[i] = was; __threadfence(); }
        old = atomicCAS(head, was, i + 1);
    } while (old != was);
    if (BUGGY) next[i] = was;  // OTHER
    if (was != 0) { __threadfence(); seen[i] = next[was - 1]; }  // BUG: global-race
}
