// Each warp counts in counters of its own: see warp_bins.py.
template <typename T>
__global__ void warp_bins(const T *x, unsigned int *counts, unsigned int n, unsigned int bins)
{
    extern __shared__ unsigned int copies[];
    const unsigned int warps = blockDim.x / 32;
    unsigned int *own = copies + threadIdx.x / 32 * bins;
    for (unsigned int b = threadIdx.x; b < warps * bins; b += blockDim.x) copies[b] = 0;
    __syncthreads();

    for (unsigned int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const unsigned int bin = x[i];  // a negative key becomes a large one
        if (bin < bins) atomicAdd(&own[bin], 1);
    }
    __syncthreads();

    for (unsigned int b = threadIdx.x; b < bins; b += blockDim.x) {
        unsigned int sum = 0;
        for (unsigned int warp = 0; warp < warps; ++warp) sum += copies[warp * bins + b];
        if (sum) atomicAdd(&counts[b], sum);
    }
}
