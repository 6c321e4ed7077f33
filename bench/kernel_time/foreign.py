"""The launches that blind.py predicts: kernels of HeCBench by program, and rungs that were new then.

Belongs here: which kernel is launched, how and with what; nothing of the model. FIRST were predicted and
measured before NEXT were chosen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

_h = np.float16
_i, _u, _f, _d, _l = np.int32, np.uint32, np.float32, np.float64, np.uint64
_M = 1 << 20


@dataclass(frozen=True, slots=True)
class Foreign:
    """One launch of a kernel of a program of HeCBench; arrays are made by functions of a random generator."""

    file: str
    kernel: str
    grid: int | tuple[int, ...]
    block: int | tuple[int, ...]
    arguments: tuple[Any, ...]
    shared: int = 0


def floats(*shape: int, form: Any = np.float32) -> Callable[[np.random.Generator], Any]:
    """An array of [0, 1)."""
    return lambda random: random.random(math.prod(shape)).astype(form)


def integers(n: int, high: int = 2**31 - 1, form: Any = np.int32) -> Callable[[np.random.Generator], Any]:
    """An array of integers below a limit."""
    return lambda random: random.integers(0, high, n).astype(form)


def zeros(n: int, form: Any = np.float32) -> Callable[[np.random.Generator], Any]:
    """An array of zeros."""
    return lambda random: np.zeros(n, form)


FIRST: Sequence[Foreign] = (
    Foreign("softmax", "softMax", 256, 256, (_i(65536), _i(64), floats(65536, 64), zeros(65536 * 64))),
    Foreign("softmax", "softMax2", 8192, 256, (_i(65536), _i(128), floats(65536, 128), zeros(65536 * 128))),
    Foreign(
        "heat/heat.cu",
        "solve",
        16384,
        256,
        (
            *(_u(2048), _d(0.1), _d(0.01), _d(0.001), _d(0.2), _d(0.2)),
            *(floats(2048, 2048, form=np.float64), zeros(2048 * 2048, np.float64)),
        ),
    ),
    Foreign(
        "stencil1d/stencil_1d.cu", "stencil_1d", 32768, 256, (integers(8 * _M + 14), zeros(8 * _M, np.int32))
    ),
    Foreign("silu", "silu_forward_kernel", 32768, 256, (floats(8 * _M), zeros(8 * _M), _l(8 * _M))),
    Foreign(
        "silu",
        "silu_backward_kernel",
        32768,
        256,
        (floats(8 * _M), floats(8 * _M), zeros(8 * _M), _l(8 * _M)),
    ),
    Foreign("glu", "glu_kernel", 16384, 256, (_i(64), _i(256), _i(256), floats(8 * _M), zeros(4 * _M))),
    Foreign(
        "iso2dfd/iso2dfd.cu",
        "iso_2dfd_kernel",
        (192, 192),
        (16, 16),
        (zeros(9 * _M), floats(9 * _M), floats(9 * _M), _f(1e-6), _l(3072), _l(3072)),
    ),
    Foreign(
        "permute",
        "permute_kernel",
        24576,
        256,
        (*[zeros(6 * _M)] * 3, floats(18 * _M), _i(8), _i(1024), _i(12), _i(64)),
    ),
    Foreign(
        "fwt/kernels.cu", "fwtBatch1Kernel", 4096, 512, (zeros(8 * _M), floats(8 * _M), _i(11)), shared=8192
    ),
    Foreign("fwt/kernels.cu", "fwtBatch2Kernel", (8192, 1), 256, (zeros(8 * _M), floats(8 * _M), _i(2 * _M))),
    *(
        Foreign(
            "bilateral",
            f"bilateralFilter<{radius}>",
            (64, 64),
            (16, 16),
            (floats(1024, 1024), zeros(_M), _i(1024), _i(1024), _f(0.5), _f(0.5), _f(0.5)),
        )
        for radius in (3, 6)
    ),
    *(
        Foreign(
            "popcount",
            kernel,
            16384,
            256,
            (integers(4 * _M, form=np.uint64), zeros(4 * _M, np.int32), _i(4 * _M)),
        )
        for kernel in ("pc1", "pc3", "pc6")
    ),
    Foreign(
        "lombscargle",
        "lombscargle",
        512,
        256,
        (_i(500), _i(131072), floats(500), floats(500), floats(131072), zeros(131072), _f(2)),
    ),
    Foreign(
        "floydwarshall",
        "floydWarshallPass",
        (128, 128),
        (16, 16),
        (integers(4 * _M, 200, np.uint32), zeros(4 * _M, np.uint32), _u(2048), _u(77)),
    ),
    Foreign(
        "hellinger",
        "hellinger",
        (32, 32),
        (16, 16),
        (floats(512, 512), floats(512, 512), zeros(512 * 512), _i(512), _i(512), _i(512)),
    ),
    *(
        Foreign("matrixT", kernel, (128, 128), (16, 16), (zeros(4 * _M), floats(4 * _M), _i(2048), _i(2048)))
        for kernel in ("transposeNaive", "transposeDiagonal", "transposeCoarseGrained")
    ),
)


def steps(n: int, step: int, form: Any) -> np.ndarray[Any, Any]:
    """So many multiples of a step."""
    return step * np.arange(n, dtype=form)


def in_order(n: int) -> Callable[[np.random.Generator], Any]:
    """Sorted numbers of [0, 1)."""
    return lambda random: np.sort(random.random(n).astype(np.float32))


NEXT: Sequence[Foreign] = (
    Foreign("atan2", "compute_f", 16384, 256, (_i(4 * _M), floats(4 * _M), floats(4 * _M), zeros(4 * _M))),
    Foreign("bitonic-sort", "bitonic_sort", 16384, 256, (_i(2048), _i(2), integers(4 * _M))),
    Foreign("convolution1D", "conv1d<float>", 32768, 256, (floats(8 * _M), zeros(8 * _M), _i(8 * _M), _i(9))),
    Foreign(
        "convolution1D",
        "conv1d_tiled<float>",
        32768,
        256,
        (floats(8 * _M), zeros(8 * _M), _i(8 * _M), _i(9)),
        shared=1060,
    ),
    Foreign(
        "dct8x8/kernels.cu",
        "DCT8x8_kernel",
        (64, 128),
        (32, 2),
        (zeros(4 * _M), floats(4 * _M), _u(2048), _u(2048), _u(2048)),
    ),
    Foreign(
        "entropy",
        "entropy",
        (128, 128),
        (16, 16),
        (zeros(4 * _M), integers(4 * _M, 16, np.int8), _i(2048), _i(2048)),
    ),
    Foreign(
        "hausdorff",
        "computeDistance",
        256,
        256,
        (floats(2 * 65536), floats(2 * 4096), zeros(1), _i(65536), _i(4096)),
    ),
    Foreign(
        "haversine/distance.cu",
        "compute_haversine_distance",
        4096,
        256,
        (floats(4 * _M, form=_d), zeros(_M, _d), _i(_M)),
    ),
    Foreign("jacobi", "jacobi_step", (128, 128), (16, 16), (zeros(4 * _M), floats(4 * _M), zeros(1))),
    Foreign(
        "kmeans/cluster.cu",
        "find_membership",
        1024,
        256,
        (floats(34, 262144), floats(5, 34), zeros(262144, _i), _i(5), _i(34), _i(262144)),
    ),
    Foreign(
        "knn",
        "cuComputeDistanceGlobal",
        (64, 64),
        (16, 16),
        (floats(128, 1024), _i(1024), floats(128, 1024), _i(1024), _i(128), zeros(_M)),
    ),
    Foreign(
        "matern",
        "matern_kernel",
        4096,
        (16, 64),
        (_i(65536), _f(0.5), floats(50, 3), floats(65536, 3), floats(50), zeros(65536)),
    ),
    Foreign("michalewicz", "eval", 4096, 256, (floats(5 * _M), zeros(1), _l(_M), _i(5))),
    Foreign(
        "murmurhash3/murmurhash3.cu",
        "MurmurHash3_x64_128_kernel",
        1024,
        256,
        (
            *(integers(16 * _M, 256, np.uint8), steps(262144, 64, _u), integers(262144, 64, _u)),
            *(zeros(2 * 262144, _l), _u(262144)),
        ),
    ),
    Foreign(
        "nn/nearestNeighbor.cu",
        "nn",
        65536,
        64,
        (_i(4 * _M), _f(0.3), _f(0.6), floats(4 * _M, 2), zeros(4 * _M)),
    ),
    Foreign(
        "page-rank",
        "map",
        8,
        256,
        (integers(4 * _M, 2), floats(2048), zeros(4 * _M), integers(2048, 99, _u), _i(2048)),
    ),
    Foreign("randomAccess", "update", 1, 128, (zeros(65536, _l), _l(65536))),
    Foreign(
        "reaction/kernels.cu",
        "reaction_gray_scott",
        8192,
        256,
        (floats(2 * _M), floats(2 * _M), zeros(2 * _M), zeros(2 * _M), _u(2 * _M), _f(0.03), _f(0.06)),
    ),
    Foreign(
        "reaction/kernels.cu",
        "derivative_z2_pbc",
        (16, 128),
        (8, 128),
        (floats(128**3), zeros(128**3), _u(128), _u(128), _u(128), _u(8)),
        shared=4160,
    ),
    Foreign(
        "rowwiseMoments",
        "RowwiseMomentsKernel<float>",
        1024,
        256,
        (np.int64(8192), _f(1e-5), floats(1024, 8192), zeros(1024), zeros(1024)),
    ),
    *(
        Foreign(
            "scan",
            f"{kernel}<int, 512>",
            2112,
            256,
            (np.int64(8192), zeros(4 * _M, _i), integers(4 * _M, 9)),
        )
        for kernel in ("scan_bcao", "scan")
    ),
    *(
        Foreign(
            "simpleSpmv/kernels.cu",
            kernel,
            grid,
            block,
            (
                *(_l(65536), steps(65537, 16, _l), integers(_M, 65536, _l), floats(_M), floats(65536)),
                zeros(65536),
            ),
        )
        for kernel, grid, block in (("mv_csr", 256, 256), ("vector_mv_csr<8>", 2048, (8, 32)))
    ),
    *(
        Foreign("softmax-online", kernel, grid, 256, (zeros(8 * _M), floats(8 * _M), _i(4096), _i(2048)))
        for kernel, grid in (
            ("softmax_forward_online_kernel3", 4096),
            ("softmax_forward_baseline_kernel", 512),
        )
    ),
    Foreign(
        "thomas/cuThomasBatch.cu",
        "cuThomasBatch",
        128,
        128,
        (*(floats(128, 16384, form=_d) for _ in range(4)), _i(128), _i(16384)),
    ),
    Foreign(
        "upsample",
        "upsample_forward_kernel",
        8192,
        256,
        (floats(2 * _M), zeros(8 * _M), _l(4), _l(8), _l(256), _l(256)),
    ),
    Foreign(
        "upsample",
        "upsample_backward_kernel",
        8192,
        256,
        (floats(8 * _M), zeros(2 * _M), _l(4), _l(8), _l(256), _l(256)),
    ),
    Foreign(
        "vanGenuchten",
        "vanGenuchten",
        4096,
        256,
        (floats(_M, form=_d), lambda random: -random.random(_M), *[zeros(_M, _d)] * 3, _i(_M)),
    ),
    Foreign(
        "recursiveGaussian",
        "SimpleRecursiveRGBA",
        32,
        64,
        (integers(2 * _M, form=_u), zeros(2 * _M, _u), _l(2048), _l(1024), _f(0.3)),
    ),
    Foreign(
        "gelu",
        "gelu_bias_loop_base",
        (1024, 4),
        256,
        (floats(4 * _M, form=_h), floats(1024, form=_h), _i(1024), _i(1024)),
    ),
    Foreign(
        "channelSum",
        "ChannelSumNCHW<float, 1, 128>",
        256,
        (1, 128),
        (_i(32), _i(256), _i(1024), floats(8 * _M), zeros(256), zeros(256)),
    ),
    Foreign(
        "heat2d",
        "dev_lapl_iter",
        16384,
        256,
        (zeros(4 * _M), floats(4 * _M), _f(0.1), _f(0.6), _i(2048), _i(2048)),
    ),
    Foreign(
        "bsearch",
        "kernel_BS<float>",
        4096,
        256,
        (in_order(4 * _M), floats(_M), zeros(_M, _l), _l(_M), _l(4 * _M)),
    ),
    Foreign("geodesic", "kernel_distance", 4096, 256, (floats(4 * _M), zeros(_M), _i(_M))),
    Foreign(
        "blas-gemm",
        "matrix_mul<float>",
        (32, 32),
        (16, 16),
        (*[floats(512, 512)] * 2, zeros(512 * 512), _i(512), _i(512), _i(512), _f(1), _f(0)),
    ),
    Foreign(
        "relu",
        "ReluGrad_impl1",
        16384,
        256,
        (floats(8 * _M, form=_h), floats(8 * _M, form=_h), zeros(8 * _M, _h), _i(8 * _M)),
    ),
    Foreign("shmembench/shmem_kernels.cu", "benchmark_shmem", 1024, 256, (zeros(4 * _M),)),
    Foreign(
        "intrinsics-simd",
        "simd_intrinsics",
        16384,
        256,
        (_i(4 * _M), integers(4 * _M, form=_u), zeros(4 * _M, _u)),
    ),
)

# Rungs that are younger than the model: ladder, size, element type, rung.
YOUNG: Sequence[tuple[str, int, str, str]] = (
    ("conv1d", 2**23, "float32", "register_window"),
    ("conv1d", 2**23, "float32", "async_tile"),
    ("conv2d", 2048, "float32", "rolling_rows"),
    ("image", 4864, "uint8", "grey_dot"),
    ("image", 2432, "uint8", "blur_tile"),
    ("transpose", 4096, "uint8", "word_tile"),
    ("transpose", 4096, "float32", "word_tile"),
)
