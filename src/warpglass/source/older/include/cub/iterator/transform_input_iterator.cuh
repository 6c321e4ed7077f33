/* CUB's iterator, which is Thrust's since CUDA 13. */
#pragma once
#include <cub/config.cuh>
#include <thrust/iterator/transform_iterator.h>

CUB_NAMESPACE_BEGIN
template <class T, class Function, class Iterator, class Offset = long long>
using TransformInputIterator = THRUST_NS_QUALIFIER::transform_iterator<Function, Iterator, T>;
CUB_NAMESPACE_END
