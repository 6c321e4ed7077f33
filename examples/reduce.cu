// One partial sum per block: a tree in shared memory, the final sum on the host.
// `warpglass run examples/reduce.cu:reduce<256> --grid 64 --block 256
//      --arg 'f8[16384]:rand' --arg 'f8[64]' --arg u4=16384` runs it from the command line.
template <unsigned int BLOCK>
__global__ void reduce(const double *x, double *partial, unsigned int n)
{
    __shared__ double shared[BLOCK];
    const unsigned int i = blockIdx.x * BLOCK + threadIdx.x;
    shared[threadIdx.x] = i < n ? x[i] : 0.0;
    __syncthreads();
    for (unsigned int stride = BLOCK / 2; stride > 0; stride /= 2) {
        if (threadIdx.x < stride) shared[threadIdx.x] += shared[threadIdx.x + stride];
        __syncthreads();
    }
    if (threadIdx.x == 0) partial[blockIdx.x] = shared[0];
}
