// A loop to and including n reads one element too many.
// launch: grid=1 block=32 args=f4[100]:rand,f4[1],i4=100
extern "C" __global__ void reduce_one_past(const float *x, float *y, int n) {
    float sum = 0;
    for (int i = threadIdx.x; BUGGY ? i <= n : i < n; i += 32) sum += x[i];  // BUG: out-of-bounds
    atomicAdd(y, sum);
}
