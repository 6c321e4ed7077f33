// Half as many blocks, rounded up: the last one has data for half of itself.
// warpglass check examples/notes_defects/unrolled_tail_fixed.cu:sums --grid 3 --block 64
//     --arg all:f8[300]:rand --arg out:f8[3] --arg u4=300
extern "C" __global__ void sums(double *x, double *partial, unsigned n) {
    unsigned tid = threadIdx.x, first = blockIdx.x * blockDim.x * 2;
    if (first + tid + blockDim.x < n) x[first + tid] += x[first + tid + blockDim.x];
    __syncthreads();
    for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (tid < stride && first + tid + stride < n) x[first + tid] += x[first + tid + stride];
        __syncthreads();
    }
    if (tid == 0) partial[blockIdx.x] = x[first];
}
