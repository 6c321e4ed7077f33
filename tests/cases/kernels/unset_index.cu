// A thread follows an index that it never stored.
// launch: grid=1 block=32 args=i4[32]:perm,f4[32]:rand,out:f4[32]
extern "C" __global__ void unset_index(const int *order, const float *x, float *y) {
    __shared__ int next[32];
    int t = threadIdx.x;
    if (!BUGGY || order[t] < 31) next[order[t]] = t;
    __syncwarp();
    y[t] = x[next[t] & 31];  // BUG: uninitialised-read
}
