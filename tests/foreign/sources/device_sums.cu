// CUB's device-wide reductions, histograms, copies, adjacent differences, searches.
#include <cub/cub.cuh>
#include <cuda_fp16.h>

template <typename T> void reductions(void *temporary, size_t bytes, T *in, T *out, int *edges, int count)
{
    cub::DeviceReduce::Sum(temporary, bytes, in, out, count);
    cub::DeviceReduce::Min(temporary, bytes, in, out, count);
    cub::DeviceSegmentedReduce::Sum(temporary, bytes, in, out, count, edges, edges + 1);
    cub::DeviceAdjacentDifference::SubtractLeftCopy(temporary, bytes, in, out, count);
}

template <typename T> void arguments(void *temporary, size_t bytes, T *in, T *out, int *edges, int count)
{
    cub::DeviceReduce::ArgMax(temporary, bytes, in, out, reinterpret_cast<long long *>(edges), count);
}

template <typename T> void histograms(void *temporary, size_t bytes, T *in, int *bins, int count)
{
    cub::DeviceHistogram::HistogramEven(temporary, bytes, in, bins, 257, T(0), T(100), count);
    T levels[6] = {T(0), T(1), T(2), T(4), T(8), T(16)};
    cub::DeviceHistogram::HistogramRange(temporary, bytes, in, bins, 6, levels, count);
}

struct Square {
    template <typename T> __device__ void operator()(T &x) const { x = x * x; }
};

void all(void *temporary, size_t bytes, void *in, void *out, int *edges, int count)
{
    reductions(temporary, bytes, static_cast<int *>(in), static_cast<int *>(out), edges, count);
    reductions(temporary, bytes, static_cast<float *>(in), static_cast<float *>(out), edges, count);
    reductions(temporary, bytes, static_cast<double *>(in), static_cast<double *>(out), edges, count);
    reductions(temporary, bytes, static_cast<long long *>(in), static_cast<long long *>(out), edges, count);
    arguments(temporary, bytes, static_cast<float *>(in), static_cast<float *>(out), edges, count);
    histograms(temporary, bytes, static_cast<unsigned char *>(in), edges, count);
    histograms(temporary, bytes, static_cast<float *>(in), edges, count);
    cub::DeviceFor::ForEachN(static_cast<float *>(in), count, Square{});
    cub::DeviceMerge::MergeKeys(temporary, bytes, static_cast<int *>(in), count, static_cast<int *>(in), count,
                                static_cast<int *>(out));
}
