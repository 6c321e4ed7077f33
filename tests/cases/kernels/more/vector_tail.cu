// Four elements a thread: the last n % 4 are left to nobody.
// launch: grid=2 block=32 args=f4[251]:rand,out:f4[251],i4=251
extern "C" __global__ void vector_tail(const float *x, float *y, int n) {  // BUG: unwritten-output x y
    int i = 4 * (blockIdx.x * 32 + threadIdx.x);
    if (i + 3 < n)
        for (int k = 0; k < 4; k++) y[i + k] = 2 * x[i + k];
    else if (!BUGGY)
        for (; i < n; i++) y[i] = 2 * x[i];
}
