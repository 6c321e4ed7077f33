// One launch by atomics: see block_atomics.py.
__device__ void add_to(long long* word, long long value) {
    // Two's complement: the bits of a sum do not depend on the sign.
    atomicAdd(reinterpret_cast<unsigned long long*>(word), static_cast<unsigned long long>(value));
}

template <typename T>
__device__ void add_to(T* word, T value) {
    atomicAdd(word, value);
}

template <typename T>
__global__ void block_atomics(const T* x, T* partial, unsigned int n) {
    __shared__ T sums[1024];
    unsigned int tid = threadIdx.x;
    T total = 0;
    for (unsigned long long i = blockIdx.x * blockDim.x + tid; i < n; i += gridDim.x * blockDim.x) total += x[i];
    sums[tid] = total;
    __syncthreads();
    for (unsigned int stride = blockDim.x / 2; stride > 0; stride >>= 1) {
        if (tid < stride) sums[tid] += sums[tid + stride];
        __syncthreads();
    }
    if (tid == 0) add_to(partial, sums[0]);
}
