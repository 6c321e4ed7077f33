// The stride halves: consecutive threads use consecutive words, hence different banks.
// The explanation, the launch arithmetic and the Python twin are in shared_sequential.py.
template <typename T>
__global__ void shared_sequential(const T *x, T *partial, unsigned int n)
{
    // One untyped buffer: `extern __shared__ T` would be declared twice if two types were compiled together.
    extern __shared__ __align__(16) unsigned char raw[];
    T *shared = reinterpret_cast<T *>(raw);
    const unsigned int tid = threadIdx.x;
    const unsigned int i = blockIdx.x * blockDim.x + tid;
    shared[tid] = i < n ? x[i] : T(0);
    __syncthreads();

    for (unsigned int stride = blockDim.x / 2; stride > 0; stride >>= 1) {
        if (tid < stride) shared[tid] += shared[tid + stride];
        __syncthreads();
    }

    if (tid == 0) partial[blockIdx.x] = shared[0];
}
