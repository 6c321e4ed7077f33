/* CUB with the iterators that are Thrust's since CUDA 13. */
#pragma GCC system_header
#include_next <cub/cub.cuh>
#include <cub/iterator/constant_input_iterator.cuh>
#include <cub/iterator/counting_input_iterator.cuh>
#include <cub/iterator/transform_input_iterator.cuh>
