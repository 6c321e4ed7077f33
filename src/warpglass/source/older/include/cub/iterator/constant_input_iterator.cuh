/* CUB's iterator, which is Thrust's since CUDA 13. */
#pragma once
#include <cub/config.cuh>
#include <thrust/iterator/constant_iterator.h>

CUB_NAMESPACE_BEGIN
template <class T, class Offset = long long> using ConstantInputIterator = THRUST_NS_QUALIFIER::constant_iterator<T>;
CUB_NAMESPACE_END
