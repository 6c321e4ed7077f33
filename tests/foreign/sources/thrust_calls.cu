// Thrust's algorithms as programs call them.
#include <thrust/adjacent_difference.h>
#include <thrust/binary_search.h>
#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/fill.h>
#include <thrust/for_each.h>
#include <thrust/gather.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/partition.h>
#include <thrust/reduce.h>
#include <thrust/remove.h>
#include <thrust/scan.h>
#include <thrust/set_operations.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/unique.h>

template <typename T> struct Odd {
    __host__ __device__ bool operator()(T x) const { return int(x) & 1; }
};

template <typename T> struct Twice {
    __host__ __device__ T operator()(T x) const { return x + x; }
};

template <typename T> void calls(T *x, T *y, int *index, int n)
{
    const auto on = thrust::device;
    thrust::fill(on, x, x + n, T(3));
    thrust::transform(on, x, x + n, y, Twice<T>());
    thrust::sort(on, x, x + n);
    thrust::stable_sort_by_key(on, x, x + n, index, thrust::greater<T>());
    thrust::inclusive_scan(on, x, x + n, y);
    thrust::exclusive_scan(on, x, x + n, y, T(1), thrust::maximum<T>());
    y[0] = thrust::reduce(on, x, x + n, T(0), thrust::plus<T>());
    thrust::reduce_by_key(on, x, x + n, index, y, index + n);
    thrust::unique(on, x, x + n);
    thrust::remove_if(on, x, x + n, Odd<T>());
    thrust::partition(on, x, x + n, Odd<T>());
    thrust::copy_if(on, x, x + n, y, Odd<T>());
    index[0] = thrust::count_if(on, x, x + n, Odd<T>());
    thrust::gather(on, index, index + n, x, y);
    thrust::adjacent_difference(on, x, x + n, y);
    thrust::lower_bound(on, x, x + n, y, y + n, index);
    thrust::set_union(on, x, x + n, y, y + n, x + 2 * n);
    y[0] = thrust::inner_product(on, x, x + n, y, T(0));
    auto largest = thrust::max_element(on, x, x + n);
    y[1] = *largest;
}

template void calls<int>(int *, int *, int *, int);
template void calls<float>(float *, float *, int *, int);
template void calls<double>(double *, double *, int *, int);

void zipped(float *x, int *y, int n)
{
    auto both = thrust::make_zip_iterator(x, y);
    thrust::sort_by_key(thrust::device, x, x + n, thrust::make_zip_iterator(y, y + n));
    thrust::for_each(thrust::device, both, both + n, [] __device__(auto t) { thrust::get<0>(t) += thrust::get<1>(t); });
    x[0] = thrust::transform_reduce(
        thrust::device, thrust::counting_iterator<int>(0), thrust::counting_iterator<int>(n),
        [] __device__(int i) { return 1.0f / (i + 1); }, 0.0f, thrust::plus<float>());
}
