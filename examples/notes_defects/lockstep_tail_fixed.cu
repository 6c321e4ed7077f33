// Lanes wait for each other between reading and writing, and before the next step.
// warpglass check examples/notes_defects/lockstep_tail_fixed.cu:sums --grid 2 --block 128
//     --arg f8[256]:rand --arg out:f8[2]
extern "C" __global__ void sums(double *x, double *partial) {
    unsigned tid = threadIdx.x;
    double *mine = x + blockIdx.x * blockDim.x;
    if (tid < 64) mine[tid] += mine[tid + 64];
    __syncthreads();
    if (tid < 32) {
        double sum = mine[tid];
        for (unsigned stride = 32; stride > 0; stride /= 2) {
            sum += mine[tid + stride];
            __syncwarp();
            mine[tid] = sum;
            __syncwarp();
        }
        if (tid == 0) partial[blockIdx.x] = sum;
    }
}
