"""How each kernel of validation.cu is launched, with what; beside them the ladders are judged.

An argument is a NumPy scalar, or what makes an array of a random generator. Large enough for more than 20 us
on a GPU of today.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Maker = Callable[[np.random.Generator], np.ndarray[Any, Any]]
Extent = int | tuple[int, ...]
SEED = 20


@dataclass(frozen=True, slots=True)
class Case:
    """One launch of a kernel."""

    kernel: str
    grid: Extent
    block: Extent
    arguments: tuple[Maker | Any, ...]

    def values(self) -> tuple[Any, ...]:
        """The arguments, arrays filled."""
        random = np.random.default_rng(SEED)
        return tuple(one(random) if callable(one) else one for one in self.arguments)


def _floats(n: int, form: Any = np.float32) -> Maker:
    return lambda random: random.random(n).astype(form)


def _ints(n: int, high: int = 2**31 - 1) -> Maker:
    return lambda random: random.integers(0, high, n, np.int32)


def _bytes(n: int) -> Maker:
    return lambda random: random.integers(0, 256, n, np.uint8)


def _zeros(n: int, form: Any = np.float32) -> Maker:
    return lambda _: np.zeros(n, form)


def _sorted(n: int) -> Maker:
    return lambda random: np.sort(random.integers(0, 2**31 - 1, n, np.int32))


def _starts(rows: int, each: int) -> Maker:
    return lambda random: np.arange(0, rows * each + 1, each).astype(np.int32)


def _case(kernel: str, grid: Extent, block: Extent, *arguments: Any) -> Case:
    return Case(kernel, grid, block, arguments)


_M = 1 << 20
_i, _f, _d = np.int32, np.float32, np.float64
CASES: Sequence[Case] = (
    _case("axpy", 64 * 1024, 256, _f(2), _floats(16 * _M), _floats(16 * _M), _i(16 * _M)),
    _case("triad_grid", 1056, 512, *[_floats(8 * _M, _d)] * 2, _zeros(8 * _M, _d), _d(3), _i(8 * _M)),
    *(
        _case("strided_read", 32768, 256, _floats(8 * _M), _zeros(8 * _M), _i(8 * _M), _i(stride))
        for stride in (3, 16)
    ),
    _case("structures", 16384, 256, _floats(20 * _M), _zeros(4 * _M), _i(4 * _M)),
    _case("gather_rows", 16384, 256, _ints(4 * _M), _floats(4 * _M), _zeros(4 * _M), _i(4 * _M)),
    _case("gather_rows", 65536, 256, _ints(16 * _M), _floats(16 * _M), _zeros(16 * _M), _i(16 * _M)),
    _case("bytes_to_floats", 65536, 256, _bytes(16 * _M), _zeros(16 * _M), _i(16 * _M)),
    _case("offset_copy", 65536, 256, _floats(16 * _M), _zeros(16 * _M), _i(16 * _M)),
    _case("mandelbrot", (64, 64), (32, 16), _zeros(2 * _M, _i), _i(2048), _i(1024), _i(256)),
    _case("black_scholes", 32768, 128, *[_floats(4 * _M)] * 3, _zeros(4 * _M), _i(4 * _M)),
    _case("n_body", 128, 256, _floats(4 * 32768), _zeros(4 * 32768), _i(32768)),
    _case("double_polynomial", 16384, 256, _floats(4 * _M, _d), _zeros(4 * _M, _d), _i(4 * _M)),
    _case("collatz", 8192, 256, _zeros(2 * _M, _i), _i(2 * _M)),
    _case("hash_rounds", 16384, 256, _ints(4 * _M), _zeros(4 * _M, _i), _i(4 * _M)),
    _case("divide_integers", 8192, 256, *[_ints(2 * _M)] * 2, _zeros(2 * _M, _i), _i(2 * _M)),
    _case("sines", 16384, 256, _floats(4 * _M), _zeros(4 * _M), _i(4 * _M)),
    _case("power_double", 16384, 256, _floats(4 * _M, _d), _zeros(4 * _M, _d), _i(4 * _M)),
    _case("list_ranking", 512, 128, _ints(8 * _M), _zeros(65536, _i), _i(8 * _M), _i(64)),
    _case("binary_search", 4096, 256, _sorted(4 * _M), _ints(_M), _zeros(_M, _i), _i(4 * _M), _i(_M)),
    _case("one_warp_sum", 1, 32, _floats(65536), _zeros(32), _i(65536)),
    _case("many_barriers", 2048, 256, _floats(2048 * 256), _i(2048 * 256)),
    *(_case("bank_conflicts", 1056, 256, _zeros(1056 * 256), _i(stride)) for stride in (1, 2, 8, 32)),
    _case("stencil_3d", (8, 32), (32, 8), _floats(256**3), _zeros(256**3), _i(256)),
    _case("game_of_life", (64, 256), (32, 8), _bytes(4 * _M), _bytes(4 * _M), _i(2048), _i(2048)),
    _case("softmax_rows", 4096, 256, _floats(8 * _M), _zeros(8 * _M), _i(2048)),
    _case("transpose_double", (128, 128), (16, 16), _floats(4 * _M, _d), _zeros(4 * _M, _d), _i(2048)),
    _case("matmul_double", (32, 32), (16, 16), *[_floats(512 * 512, _d)] * 2, _zeros(512 * 512, _d), _i(512)),
    _case(
        "sparse_rows",
        1024,
        256,
        _starts(262144, 16),
        _ints(4 * _M, 262144),
        _floats(4 * _M),
        _floats(262144),
        _zeros(262144),
        _i(262144),
    ),
    _case("count_even", 16384, 256, _ints(4 * _M), _zeros(1, _i), _i(4 * _M)),
    _case("sum_by_atomics", 4096, 256, _floats(_M), _zeros(64), _i(_M)),
    _case("compact", 16384, 256, _ints(4 * _M), _zeros(4 * _M, _i), _zeros(1, _i), _i(4 * _M)),
    _case("scatter_add", 16384, 256, _ints(4 * _M), _floats(4 * _M), _zeros(_M), _i(4 * _M), _i(_M)),
    _case("shared_float_bins", 528, 256, _ints(4 * _M), _zeros(64), _i(4 * _M)),
    _case("largest", 16384, 256, _ints(4 * _M), _zeros(1, _i), _i(4 * _M)),
    _case("divergent_trips", 16384, 256, _ints(4 * _M), _zeros(4 * _M), _i(4 * _M)),
    _case("local_array", 4096, 256, _ints(_M), _zeros(_M, _i), _i(_M)),
    _case("polynomial_few", 40, 128, _floats(5120), _zeros(5120), _i(5120)),
    _case("one_thread_blocks", 1 << 18, 1, _floats(1 << 18), _zeros(1 << 18)),
)
