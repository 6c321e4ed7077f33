// The left neighbour of thread 0 would be before the shared array.
// launch: grid=1 block=64 args=f4[64]:rand,out:f4[64]
extern "C" __global__ void shared_before_start(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    float left = BUGGY || t > 0 ? s[t - 1] : 0;  // BUG: out-of-bounds
    y[t] = s[t] + left;
}
