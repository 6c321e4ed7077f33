// CUB's device-wide functions as functions of C, for cub_peer.py. Each does its work on the legacy stream with
// scratch memory of the caller; without it, it says how much it needs.

#include <cub/cub.cuh>

template <typename F>
static size_t call(F function, void *scratch, size_t bytes)
{
    const cudaError_t status = function(scratch, bytes);
    return status == cudaSuccess ? bytes : ~size_t(0);
}

extern "C" {

size_t sum_float(void *scratch, size_t bytes, const float *in, float *out, long long n)
{
    return call([=](void *s, size_t &b) { return cub::DeviceReduce::Sum(s, b, in, out, n); }, scratch, bytes);
}

size_t scan_float(void *scratch, size_t bytes, const float *in, float *out, long long n)
{
    return call([=](void *s, size_t &b) { return cub::DeviceScan::InclusiveSum(s, b, in, out, n); }, scratch, bytes);
}

size_t sort_float(void *scratch, size_t bytes, const float *in, float *out, long long n)
{
    return call([=](void *s, size_t &b) { return cub::DeviceRadixSort::SortKeys(s, b, in, out, n); }, scratch, bytes);
}

size_t histogram_bytes(void *scratch, size_t bytes, const unsigned char *in, unsigned *out, long long n)
{
    return call(
        [=](void *s, size_t &b) { return cub::DeviceHistogram::HistogramEven(s, b, in, out, 257, 0, 256, n); },
        scratch, bytes);
}

size_t histogram_bins(void *scratch, size_t bytes, const int *in, unsigned *out, long long n)
{
    return call(
        [=](void *s, size_t &b) { return cub::DeviceHistogram::HistogramEven(s, b, in, out, 4097, 0, 4096, n); },
        scratch, bytes);
}
}
