// Only the threads that add something come to the barrier of a step; the others never do.
// warpglass check examples/notes_defects/barrier_in_branch.cu:dot --grid 2 --block 64
//     --arg f4[128]:rand --arg f4[128]:rand --arg out:f4[2]
extern "C" __global__ void dot(const float *a, const float *b, float *c) {
    __shared__ float product[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    product[t] = a[i] * b[i];
    __syncthreads();
    for (int half = 32; half > 0; half /= 2) {
        if (t < half) {
            product[t] += product[t + half];
            __syncthreads();  // barrier-divergence
        }
    }
    if (t == 0) c[blockIdx.x] = product[0];
}
