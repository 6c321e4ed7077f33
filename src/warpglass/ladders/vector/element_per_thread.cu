// One element a thread, and a guard for the threads beyond the end: see element_per_thread.py.
template <typename T>
__global__ void element_per_thread(const T* x, const T* y, T* z, unsigned int n) {
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) z[i] = x[i] + y[i];
}
