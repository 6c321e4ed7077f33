// The last warp adds up without a barrier, in the belief that its lanes run in lockstep.
// warpglass check examples/notes_defects/lockstep_tail.cu:sums --grid 2 --block 128
//     --arg f8[256]:rand --arg out:f8[2]
extern "C" __global__ void sums(double *x, double *partial) {
    unsigned tid = threadIdx.x;
    double *mine = x + blockIdx.x * blockDim.x;
    if (tid < 64) mine[tid] += mine[tid + 64];
    __syncthreads();
    if (tid < 32) {
        volatile double *tail = mine;
        for (unsigned stride = 32; stride > 0; stride /= 2) tail[tid] += tail[tid + stride];  // warp-race
        if (tid == 0) partial[blockIdx.x] = tail[0];
    }
}
