// The stride is the number of threads of the grid.
// warpglass check examples/notes_defects/block_squared_fixed.cu:add --grid 2 --block 32
//     --arg f4[300]:rand --arg f4[300]:rand --arg out:f4[300] --arg i4=300
extern "C" __global__ void add(const float *a, const float *b, float *c, int n) {
    int stride = blockDim.x * gridDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) c[i] = a[i] + b[i];
}
