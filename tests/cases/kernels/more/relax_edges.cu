// Bellman and Ford's relaxation compares and stores in two steps.
// launch: grid=2 block=64 args=i4[128]:rand,i4[16],i4[16]
extern "C" __global__ void relax_edges(const int *edge, const int *from, int *d) {
    int i = blockIdx.x * 64 + threadIdx.x, v = edge[i] & 15, way = from[edge[i] >> 4 & 15] - i;
    if (BUGGY) {
        if (way < d[v]) d[v] = way;  // BUG: global-race
    } else {
        atomicMin(d + v, way);
    }
}
