// unroll_warps8 without its loop: every step for up to 1024 threads is written out.
// The explanation, the launch arithmetic and the Python twin are in complete_unroll_warps8.py.

// Adds elements 0..63 of `data` into data[0] with one warp. Every step reads, waits until all lanes have
// read, writes, and waits until all lanes have written: lanes of a warp are not in lockstep by contract.
template <typename T>
__device__ __forceinline__ void reduce_last_warp(T *data, unsigned int tid, unsigned int count)
{
    if (count >= 64) {
        T sum = data[tid] + data[tid + 32];
        data[tid] = sum;
        __syncwarp();
        sum += data[tid + 16]; __syncwarp(); data[tid] = sum; __syncwarp();
        sum += data[tid + 8];  __syncwarp(); data[tid] = sum; __syncwarp();
        sum += data[tid + 4];  __syncwarp(); data[tid] = sum; __syncwarp();
        sum += data[tid + 2];  __syncwarp(); data[tid] = sum; __syncwarp();
        sum += data[tid + 1];  __syncwarp(); data[tid] = sum;
    } else {
        // Only a last block with fewer than 64 elements comes here.
        for (unsigned int stride = 32; stride > 0; stride >>= 1) {
            if (tid < stride && tid + stride < count) data[tid] += data[tid + stride];
            __syncwarp();
        }
    }
}

template <typename T>
__global__ void complete_unroll_warps8(T *x, T *partial, unsigned int n)
{
    const unsigned int tid = threadIdx.x;
    const unsigned int base = blockIdx.x * blockDim.x * 8;
    T *data = x + base;
    const unsigned int count = base < n ? n - base : 0;  // elements left from this block on

    if (tid + 7 * blockDim.x < count) {
        const T a0 = data[tid];
        const T a1 = data[tid + blockDim.x];
        const T a2 = data[tid + 2 * blockDim.x];
        const T a3 = data[tid + 3 * blockDim.x];
        const T a4 = data[tid + 4 * blockDim.x];
        const T a5 = data[tid + 5 * blockDim.x];
        const T a6 = data[tid + 6 * blockDim.x];
        const T a7 = data[tid + 7 * blockDim.x];
        data[tid] = a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7;
    } else {
        // Only the last block comes here: add whatever whole or broken data blocks it has.
        #pragma unroll 1
        for (unsigned int i = tid + blockDim.x; i < count; i += blockDim.x) data[tid] += data[i];
    }
    __syncthreads();

    if (blockDim.x >= 1024 && tid < 512 && tid + 512 < count) data[tid] += data[tid + 512];
    __syncthreads();
    if (blockDim.x >= 512 && tid < 256 && tid + 256 < count) data[tid] += data[tid + 256];
    __syncthreads();
    if (blockDim.x >= 256 && tid < 128 && tid + 128 < count) data[tid] += data[tid + 128];
    __syncthreads();
    if (blockDim.x >= 128 && tid < 64 && tid + 64 < count) data[tid] += data[tid + 64];
    __syncthreads();

    if (tid < 32) reduce_last_warp(data, tid, count);
    if (tid == 0) partial[blockIdx.x] = count > 0 ? data[0] : T(0);
}
