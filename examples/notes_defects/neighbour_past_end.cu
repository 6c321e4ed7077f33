// The partner of an element in the first step may lie behind the end if n is no multiple of the block.
// warpglass check examples/notes_defects/neighbour_past_end.cu:sums --grid 5 --block 64
//     --arg f8[300]:rand --arg out:f8[5] --arg u4=300
extern "C" __global__ void sums(double *x, double *partial, unsigned n) {
    unsigned tid = threadIdx.x;
    double *mine = x + blockIdx.x * blockDim.x;
    if (blockIdx.x * blockDim.x + tid >= n) return;
    for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
        if (tid % (2 * stride) == 0) mine[tid] += mine[tid + stride];  // out-of-bounds
        __syncthreads();
    }
    if (tid == 0) partial[blockIdx.x] = mine[0];
}
