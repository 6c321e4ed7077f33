// The partner counts only if it is one of the n elements.
// warpglass check examples/notes_defects/neighbour_past_end_fixed.cu:sums --grid 5 --block 64
//     --arg f8[300]:rand --arg out:f8[5] --arg u4=300
extern "C" __global__ void sums(double *x, double *partial, unsigned n) {
    unsigned tid = threadIdx.x, first = blockIdx.x * blockDim.x;
    double *mine = x + first;
    if (first + tid >= n) return;
    for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
        if (tid % (2 * stride) == 0 && first + tid + stride < n) mine[tid] += mine[tid + stride];
        __syncthreads();
    }
    if (tid == 0) partial[blockIdx.x] = mine[0];
}
