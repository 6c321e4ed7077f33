// Two arrays take turns as input and output; a barrier is needed in each turn, and the arrays must not be mixed up.
// launch: grid=1 block=64 args=f4[64]:rand,f4[64],out:f4[64]
extern "C" __global__ void swap_pointers(float *a, float *b, float *y) {
    int t = threadIdx.x;
    float *from = a, *to = b;
    for (int step = 0; step < 5; step++) {
        to[t] = from[t] + from[(t + 32) % 64];  // BUG: global-race
        if (!BUGGY) __syncthreads();
        float *other = from;
        from = to;
        to = other;
    }
    y[t] = from[t];
}
