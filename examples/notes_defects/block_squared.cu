// The stride of the loop is written blockDim * blockDim, which is the grid's only if it has as many blocks.
// warpglass check examples/notes_defects/block_squared.cu:add --grid 2 --block 32
//     --arg f4[300]:rand --arg f4[300]:rand --arg out:f4[300] --arg i4=300
extern "C" __global__ void add(const float *a, const float *b, float *c, int n) {  // unwritten-output
    int stride = blockDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) c[i] = a[i] + b[i];
}
