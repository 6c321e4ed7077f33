// Roots are hooked by compare and swap, but paths are followed by plain reads.
// launch: grid=2 block=32 args=i4[65]:arange
__device__ int find(int *parent, int i) {
    int p = BUGGY ? parent[i] : atomicAdd(&parent[i], 0);  // OTHER
    while (p != i) {  // OTHER
        i = p;
        p = BUGGY ? parent[i] : atomicAdd(&parent[i], 0);  // OTHER
    }
    return i;
}
extern "C" __global__ void union_find(int *parent) {
    int i = blockIdx.x * 32 + threadIdx.x;
    int a = find(parent, i), b = find(parent, i + 1);
    while (a != b) {
        int high = max(a, b), low = min(a, b);
        int was = atomicCAS(&parent[high], high, low);  // BUG: global-race
        if (was == high) break;
        a = find(parent, was);
        b = find(parent, low);
    }
}
