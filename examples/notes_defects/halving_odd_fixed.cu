// The lower half keeps the middle element: it is the longer one, and the upper half begins behind it.
// warpglass check examples/notes_defects/halving_odd_fixed.cu:total --grid 1 --block 32
//     --arg all:f8[101]:rand --arg out:f8[1] --arg u4=101
extern "C" __global__ void total(double *x, double *sum, unsigned n) {
    while (n > 1) {
        unsigned half = (n + 1) / 2;
        for (unsigned i = threadIdx.x; i + half < n; i += blockDim.x) x[i] += x[i + half];
        __syncwarp();
        n = half;
    }
    if (threadIdx.x == 0) sum[0] = x[0];
}
