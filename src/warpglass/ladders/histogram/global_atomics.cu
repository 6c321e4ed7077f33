// One key a thread, one atomic addition to global memory for each: see global_atomics.py.
template <typename T>
__global__ void global_atomics(const T *x, unsigned int *counts, unsigned int n, unsigned int bins)
{
    const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned int bin = x[i];  // a negative key becomes a large one
    if (bin < bins) atomicAdd(&counts[bin], 1);
}
