// All neighbours are compared at once, so an element is in two pairs; odd and even pairs must take turns.
// launch: grid=1 block=64 args=f4[64]:rand
extern "C" __global__ void odd_even_naive(float *x) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    for (int step = 0; step < 64; step++) {
        bool mine = t + 1 < 64 && (BUGGY || t % 2 == step % 2);
        if (mine && s[t] > s[t + 1]) { float high = s[t]; s[t] = s[t + 1]; s[t + 1] = high; }  // BUG: shared-race
        __syncthreads();
    }
    x[t] = s[t];
}
