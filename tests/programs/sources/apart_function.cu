// The function that apart.cu calls.
__device__ int twice(int x) { return 2 * x; }
