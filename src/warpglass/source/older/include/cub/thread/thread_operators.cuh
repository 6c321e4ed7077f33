/* CUB's operators with those that are cuda::std's since CUDA 13. */
#pragma GCC system_header
#include_next <cub/thread/thread_operators.cuh>
#ifndef WARPGLASS_OLDER_OPERATORS
#define WARPGLASS_OLDER_OPERATORS
#include <cuda/functional>
#include <cuda/std/functional>
#include <cuda/std/type_traits>

CUB_NAMESPACE_BEGIN
using Sum = ::cuda::std::plus<>;
using Difference = ::cuda::std::minus<>;
using Division = ::cuda::std::divides<>;
using Equality = ::cuda::std::equal_to<>;
using Inequality = ::cuda::std::not_equal_to<>;
using Max = ::cuda::maximum<>;
using Min = ::cuda::minimum<>;
template <int value> using Int2Type = ::cuda::std::integral_constant<int, value>;
CUB_NAMESPACE_END
#endif
