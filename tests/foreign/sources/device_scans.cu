// CUB's device-wide scans and what is built on them: all look back over earlier blocks.
#include <cub/cub.cuh>
#include <cuda_fp16.h>

struct Positive {
    template <typename T> __device__ bool operator()(const T &x) const { return x > T(0); }
};

struct Larger {
    template <typename T> __device__ T operator()(const T &a, const T &b) const { return a < b ? b : a; }
};

template <typename T> void scans(void *temporary, size_t bytes, T *in, T *out, int count)
{
    cub::DeviceScan::ExclusiveSum(temporary, bytes, in, out, count);
    cub::DeviceScan::InclusiveScan(temporary, bytes, in, out, Larger{}, count);
}

template <typename T> void choices(void *temporary, size_t bytes, T *in, T *out, int *found, int count)
{
    cub::DeviceSelect::If(temporary, bytes, in, out, found, count, Positive{});
    cub::DeviceSelect::Flagged(temporary, bytes, in, found, out, found, count);
    cub::DeviceSelect::Unique(temporary, bytes, in, out, found, count);
    cub::DevicePartition::If(temporary, bytes, in, out, found, count, Positive{});
}

template <typename T> void runs(void *temporary, size_t bytes, T *in, T *out, int *found, int count)
{
    cub::DeviceRunLengthEncode::Encode(temporary, bytes, in, out, found, found, count);
    cub::DeviceRunLengthEncode::NonTrivialRuns(temporary, bytes, in, found, found, found, count);
    cub::DeviceReduce::ReduceByKey(temporary, bytes, in, out, found, found + 1, found, Larger{}, count);
    cub::DeviceScan::InclusiveSumByKey(temporary, bytes, in, found, found + 1, count);
}

template <typename T> void all_of(void *temporary, size_t bytes, void *in, void *out, int *found, int count)
{
    scans(temporary, bytes, static_cast<T *>(in), static_cast<T *>(out), count);
    choices(temporary, bytes, static_cast<T *>(in), static_cast<T *>(out), found, count);
    runs(temporary, bytes, static_cast<T *>(in), static_cast<T *>(out), found, count);
}

void all(void *temporary, size_t bytes, void *in, void *out, int *found, int count)
{
    all_of<signed char>(temporary, bytes, in, out, found, count);
    all_of<int>(temporary, bytes, in, out, found, count);
    all_of<double>(temporary, bytes, in, out, found, count);
}
