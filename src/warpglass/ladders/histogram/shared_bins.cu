// Each block counts in shared memory and adds its counts at the end: see shared_bins.py.
template <typename T>
__global__ void shared_bins(const T *x, unsigned int *counts, unsigned int n, unsigned int bins)
{
    extern __shared__ unsigned int own[];
    for (unsigned int b = threadIdx.x; b < bins; b += blockDim.x) own[b] = 0;
    __syncthreads();

    for (unsigned int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const unsigned int bin = x[i];  // a negative key becomes a large one
        if (bin < bins) atomicAdd(&own[bin], 1);
    }
    __syncthreads();

    for (unsigned int b = threadIdx.x; b < bins; b += blockDim.x)
        if (own[b]) atomicAdd(&counts[b], own[b]);
}
