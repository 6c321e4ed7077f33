// The same pairs handed to consecutive threads, whose addresses are 2 * stride words apart.
// The explanation, the launch arithmetic and the Python twin are in shared_interleaved_strided.py.
template <typename T>
__global__ void shared_interleaved_strided(const T *x, T *partial, unsigned int n)
{
    // One untyped buffer: `extern __shared__ T` would be declared twice if two types were compiled together.
    extern __shared__ __align__(16) unsigned char raw[];
    T *shared = reinterpret_cast<T *>(raw);
    const unsigned int tid = threadIdx.x;
    const unsigned int i = blockIdx.x * blockDim.x + tid;
    shared[tid] = i < n ? x[i] : T(0);
    __syncthreads();

    for (unsigned int stride = 1; stride < blockDim.x; stride *= 2) {
        const unsigned int index = 2 * stride * tid;
        if (index < blockDim.x) shared[index] += shared[index + stride];
        __syncthreads();
    }

    if (tid == 0) partial[blockIdx.x] = shared[0];
}
