// Lanes with equal keys count together, in global memory: see warp_match.py.
template <typename T>
__global__ void warp_match(const T *x, unsigned int *counts, unsigned int n, unsigned int bins)
{
    // All lanes take part in the match; one beyond the end has a key that no bin is for.
    const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned int bin = bins;
    if (i < n) bin = x[i];  // a negative key becomes a large one
    const unsigned int equal = __match_any_sync(0xffffffffu, bin);
    if (bin < bins && threadIdx.x % 32 == __ffs(equal) - 1) atomicAdd(&counts[bin], __popc(equal));
}
