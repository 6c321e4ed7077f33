// A block adds up the data of two, so half as many blocks are launched: 5 / 2 = 2, and the fifth never counts.
// warpglass check examples/notes_defects/unrolled_tail.cu:sums --grid 2 --block 64
//     --arg all:f8[300]:rand --arg out:f8[2] --arg u4=300
extern "C" __global__ void sums(double *x, double *partial, unsigned n) {  // unread-input
    unsigned tid = threadIdx.x, first = blockIdx.x * blockDim.x * 2;
    if (first + tid + blockDim.x < n) x[first + tid] += x[first + tid + blockDim.x];
    __syncthreads();
    for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (tid < stride && first + tid + stride < n) x[first + tid] += x[first + tid + stride];
        __syncthreads();
    }
    if (tid == 0) partial[blockIdx.x] = x[first];
}
