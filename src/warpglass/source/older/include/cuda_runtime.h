/* The runtime of CUDA 13 with what programs written for CUDA 12 call otherwise. */
#pragma GCC system_header
#include_next <cuda_runtime.h>
#include "warpglass_older_runtime.h"
