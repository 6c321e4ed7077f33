// A private histogram of eight bins gets nine: the greatest value maps to bin 8.
// launch: grid=1 block=32 args=f4[256]:rand,out:i4[256]
extern "C" __global__ void local_overrun(const float *x, int *y) {
    int bin[8];
    int t = threadIdx.x;
    for (int b = 0; b < 8; b++) bin[b] = 0;
    for (int k = 0; k < 8; k++) {
        float v = x[8 * t + k];
        int b = (int)(v * (BUGGY ? 8.5f : 8.0f));
        bin[b]++;  // BUG: out-of-bounds
    }
    for (int b = 0; b < 8; b++) y[8 * t + b] = bin[b];
}
