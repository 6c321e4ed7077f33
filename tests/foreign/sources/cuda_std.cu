// libcu++: barriers, pipelines, atomics, semaphores, latches and the standard library on the device.
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/functional>
#include <cuda/latch>
#include <cuda/pipeline>
#include <cuda/semaphore>
#include <cuda/std/array>
#include <cuda/std/bit>
#include <cuda/std/chrono>
#include <cuda/std/complex>
#include <cuda/std/optional>
#include <cuda/std/tuple>
#include <cuda/std/utility>
#include <cuda/std/variant>
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

template <typename T, cuda::thread_scope SCOPE> __global__ void meet(T *x, int rounds)
{
    __shared__ cuda::barrier<SCOPE> barrier;
    __shared__ T tile[128];
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    __syncthreads();
    const int i = threadIdx.x;
    T sum = x[blockIdx.x * blockDim.x + i];
    for (int round = 0; round < rounds; ++round) {
        tile[i] = sum;
        barrier.arrive_and_wait();
        sum += tile[(i + 1) % blockDim.x];
        auto token = barrier.arrive();
        barrier.wait(std::move(token));
    }
    x[blockIdx.x * blockDim.x + i] = sum;
}

template <typename T, int STAGES> __global__ void pipelined(const T *x, T *y, int tiles)
{
    __shared__ T tile[STAGES][128];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    auto block = cg::this_thread_block();
    auto pipeline = cuda::make_pipeline(block, &state);
    T sum = 0;
    int fetched = 0;
    for (int k = 0; k < tiles; ++k) {
        for (; fetched < tiles && fetched < k + STAGES; ++fetched) {
            pipeline.producer_acquire();
            cuda::memcpy_async(block, tile[fetched % STAGES], x + (blockIdx.x * tiles + fetched) * 128,
                               sizeof(T) * 128, pipeline);
            pipeline.producer_commit();
        }
        pipeline.consumer_wait();
        sum += tile[k % STAGES][127 - threadIdx.x];
        pipeline.consumer_release();
    }
    y[blockIdx.x * 128 + threadIdx.x] = sum;
}

template <typename T, cuda::thread_scope SCOPE> __global__ void atomics(T *x, int *bins)
{
    cuda::atomic_ref<T, SCOPE> first(x[0]);
    first.fetch_add(T(1), cuda::memory_order_relaxed);
    cuda::atomic_ref<int, SCOPE> bin(bins[threadIdx.x % 7]);
    bin.fetch_max(threadIdx.x, cuda::memory_order_acq_rel);
    T expected = first.load(cuda::memory_order_acquire);
    while (!first.compare_exchange_weak(expected, expected + T(2))) {}
    cuda::atomic_thread_fence(cuda::memory_order_seq_cst, SCOPE);
    if (bin.load() > 10) first.store(T(5), cuda::memory_order_release);
}

template <int SLOTS> __global__ void guarded(int *x)
{
    __shared__ cuda::counting_semaphore<cuda::thread_scope_block, SLOTS> slots;
    using Latch = cuda::latch<cuda::thread_scope_block>;
    __shared__ __align__(alignof(Latch)) unsigned char bytes[sizeof(Latch)];
    Latch &latch = *reinterpret_cast<Latch *>(bytes);
    if (threadIdx.x == 0) {
        new (&slots) cuda::counting_semaphore<cuda::thread_scope_block, SLOTS>(SLOTS);
        new (bytes) Latch(blockDim.x);
    }
    __syncthreads();
    slots.acquire();
    x[blockIdx.x] += 1;
    slots.release();
    latch.arrive_and_wait();
    if (threadIdx.x == 0) x[blockIdx.x] *= 2;
}

template <typename T> __global__ void standard(T *x, int n)
{
    cuda::std::array<T, 8> mine;
    for (int k = 0; k < 8; ++k) mine[k] = x[(blockIdx.x * blockDim.x + threadIdx.x) * 8 + k];
    for (int k = 1; k < 8; ++k)
        if (mine[k] < mine[k - 1]) cuda::std::swap(mine[k], mine[k - 1]);
    cuda::std::optional<T> found;
    if (mine[3] > T(1)) found = mine[4];
    cuda::std::variant<unsigned, T> either = n > 3 ? cuda::std::variant<unsigned, T>(2u) : cuda::std::variant<unsigned, T>(mine[1]);
    cuda::std::complex<double> z(double(mine[0]), 2.0);
    z = z * z / cuda::std::complex<double>(1.5, double(mine[2]));
    auto both = cuda::std::make_tuple(found.value_or(T(7)), either.index());
    mine[0] = T(z.real()) + cuda::std::get<0>(both) + T(cuda::std::get<1>(both)) + T(cuda::std::popcount(unsigned(n)));
    for (int k = 0; k < 8; ++k) x[(blockIdx.x * blockDim.x + threadIdx.x) * 8 + k] = mine[k];
}

template __global__ void meet<int, cuda::thread_scope_block>(int *, int);
template __global__ void meet<double, cuda::thread_scope_block>(double *, int);
template __global__ void meet<float, cuda::thread_scope_device>(float *, int);
template __global__ void pipelined<float, 2>(const float *, float *, int);
template __global__ void pipelined<double, 3>(const double *, double *, int);
template __global__ void pipelined<int, 4>(const int *, int *, int);
template __global__ void atomics<int, cuda::thread_scope_device>(int *, int *);
template __global__ void atomics<long long, cuda::thread_scope_system>(long long *, int *);
template __global__ void atomics<float, cuda::thread_scope_block>(float *, int *);
template __global__ void atomics<double, cuda::thread_scope_device>(double *, int *);
template __global__ void guarded<1>(int *);
template __global__ void guarded<4>(int *);
template __global__ void standard<int>(int *, int);
template __global__ void standard<float>(float *, int);
template __global__ void standard<double>(double *, int);
template __global__ void standard<short>(short *, int);
