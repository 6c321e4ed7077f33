// The right neighbour of the last thread is behind the end of the shared array.
// launch: grid=1 block=64 args=f4[64]:rand,out:f4[64]
extern "C" __global__ void shared_past_end(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    y[t] = s[t] + s[BUGGY ? t + 1 : (t + 1) % 64];  // BUG: out-of-bounds
}
