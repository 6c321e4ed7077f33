// CUB's device-wide sorts, of keys and of pairs: one-sweep radix sort, merge sort, segmented sorts.
#include <cub/cub.cuh>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <typename Key> void radix(void *temporary, size_t bytes, Key *keys, int *values, int count)
{
    cub::DeviceRadixSort::SortKeys(temporary, bytes, keys, keys + count, count);
    cub::DeviceRadixSort::SortPairsDescending(temporary, bytes, keys, keys + count, values, values + count, count);
}

struct Later {
    template <typename T> __device__ bool operator()(const T &a, const T &b) const { return a > b; }
};

template <typename Key> void merge(void *temporary, size_t bytes, Key *keys, int *values, int count)
{
    cub::DeviceMergeSort::SortKeys(temporary, bytes, keys, count, Later{});
    cub::DeviceMergeSort::SortPairs(temporary, bytes, keys, values, count, Later{});
}

template <typename Key> void segmented(void *temporary, size_t bytes, Key *keys, int *edges, int count)
{
    cub::DeviceSegmentedRadixSort::SortKeys(temporary, bytes, keys, keys + count, count, 9, edges, edges + 1);
    cub::DeviceSegmentedSort::SortKeys(temporary, bytes, keys, keys + count, count, 9, edges, edges + 1);
}

void all(void *temporary, size_t bytes, void *keys, int *values, int count)
{
    radix(temporary, bytes, static_cast<unsigned char *>(keys), values, count);
    radix(temporary, bytes, static_cast<float *>(keys), values, count);
    radix(temporary, bytes, static_cast<long long *>(keys), values, count);
    radix(temporary, bytes, static_cast<double *>(keys), values, count);
    radix(temporary, bytes, static_cast<__half *>(keys), values, count);
    merge(temporary, bytes, static_cast<int *>(keys), values, count);
    merge(temporary, bytes, static_cast<double *>(keys), values, count);
    segmented(temporary, bytes, static_cast<int *>(keys), values, count);
}
