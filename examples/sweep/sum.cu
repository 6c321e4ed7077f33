// A sum by blocks whose threads add EACH elements first: which BLOCK and EACH are best? See tile.toml.
template <unsigned int BLOCK, unsigned int EACH>
__global__ void sum(const float *x, float *partial, unsigned int n)
{
    __shared__ float shared[BLOCK];
    float own = 0;
    for (unsigned int k = 0; k < EACH; ++k) {
        const unsigned int i = (blockIdx.x * EACH + k) * BLOCK + threadIdx.x;
        if (i < n) own += x[i];
    }
    shared[threadIdx.x] = own;
    __syncthreads();
    for (unsigned int stride = BLOCK / 2; stride > 0; stride /= 2) {
        if (threadIdx.x < stride) shared[threadIdx.x] += shared[threadIdx.x + stride];
        __syncthreads();
    }
    if (threadIdx.x == 0) partial[blockIdx.x] = shared[0];
}
