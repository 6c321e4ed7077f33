"""How an operation's time goes down with the number of devices: `warpglass bench sort --devices 0,1`.

Belongs here: the data, which every rank makes of the numbers of its elements, the times, and the verdicts. A
result is judged without any rank holding it all.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..records.scaling import ScalingRecord, ScalingRow
from ..records.spelling import did_you_mean
from . import operations
from .communicator import Communicator, all_gather, gather_numbers, gather_rows
from .start import Device, check_ranks, run

_AT_ONCE = 1 << 26  # elements made at a time
_WIDTH = {True: 256, False: 1 << 14}  # columns of a picture, on the engine and on GPUs
_MASK = 5
_BAND = 8  # rows of a picture that are compared at each end of a share


@dataclass(frozen=True)
class _Work:
    """An operation of a bench: its usual sizes, how shares are made, what is timed, whether it is right."""

    on_engine: int
    on_gpus: int
    make: Callable[[Communicator, int, str], tuple[Any, ...]]
    do: Callable[..., Any]
    right: Callable[..., bool]


def bench(
    ladders: Sequence[str],
    devices: Sequence[Device],
    size: int | None = None,
    dtype: str | None = None,
    repeat: int = 5,
) -> ScalingRecord:
    """Time operations on the first of the devices, on the first two, four, ... and on all, and verify them.

    `ladders` are names of BENCHES; `size` is the number of elements, or of rows of the square matrices, in
    all ranks together, `dtype` one of float32 and float64. Raises ArgumentError for what there is not.
    """
    for name in ladders:
        if name not in BENCHES:
            near = did_you_mean(name, list(BENCHES))
            raise ArgumentError(
                f"no ladder {name!r} on several devices{near}; there is: {', '.join(BENCHES)}"
            )
    if dtype not in (None, "float32", "float64"):
        raise ArgumentError(f"dtype {dtype!r}: on several devices float32 or float64")
    if size is not None and size < len(devices):
        raise ArgumentError(f"size {size}: at least one element for each of {len(devices)} devices")
    on_engine = check_ranks(devices)
    wanted = [
        (name, size or (BENCHES[name].on_engine if on_engine else BENCHES[name].on_gpus)) for name in ladders
    ]
    counts = sorted({2**power for power in range(10) if 2**power < len(devices)} | {len(devices)})
    found = {count: run(_measure, devices[:count], wanted, dtype or "float32", repeat) for count in counts}
    rows: list[ScalingRow] = []
    for place, (name, elements) in enumerate(wanted):
        times = {count: max(rank[place][0] for rank in found[count]) for count in counts}
        rows += [
            ScalingRow(
                operation=name,
                devices=count,
                size=elements,
                dtype=dtype or "float32",
                seconds=times[count],
                speedup=times[1] / times[count],
                verified=all(rank[place][1] for rank in found[count]),
            )
            for count in counts
        ]
    return ScalingRecord(device=found[counts[0]][0][-1], rows=tuple(rows))


def _measure(here: Communicator, wanted: Sequence[tuple[str, int]], dtype: str, repeat: int) -> list[Any]:
    """In each rank: seconds and verdict for each operation, then the device's name."""
    found: list[Any] = []
    for name, size in wanted:
        work = BENCHES[name]
        shares = work.make(here, size, dtype)
        seconds: list[float] = []
        result = None
        for _ in range(1 + repeat):  # the first compiles and warms up
            result = None  # its memory is there for the next
            gather_numbers(here, 0)  # all begin together
            here.wait()
            begun = perf_counter()
            result = work.do(here, *shares)
            here.wait()
            seconds.append(perf_counter() - begun)
        found.append((statistics.median(seconds[1:]), bool(work.right(here, result, *shares))))
        del shares, result
    return [*found, here.name]


# ---------------------------------------------------------------------------------------- data
def _bounds(here: Communicator, size: int) -> tuple[int, int]:
    """The first element of this rank's share, and the one after the last."""
    return here.rank * size // here.size, (here.rank + 1) * size // here.size


def _numbers(here: Communicator, first: int, last: int, dtype: str, seed: int = 1) -> Any:
    """Elements by their numbers: of 24 random-looking bits, between 0 and 1."""
    module = here.module
    made = module.empty(last - first, dtype)
    for begin in range(first, last, _AT_ONCE):
        end = min(last, begin + _AT_ONCE)
        bits = module.arange(begin, end, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15 + 2 * seed)
        bits ^= bits >> np.uint64(29)
        bits *= np.uint64(0xBF58476D1CE4E5B9)
        made[begin - first : end - first] = (bits >> np.uint64(40)).astype(dtype) * np.dtype(dtype).type(
            2.0**-24
        )
    return made


def _vector(here: Communicator, size: int, dtype: str) -> tuple[Any, ...]:
    return (_numbers(here, *_bounds(here, size), dtype),)


def _vectors(here: Communicator, size: int, dtype: str) -> tuple[Any, ...]:
    return tuple(_numbers(here, *_bounds(here, size), dtype, seed) for seed in (1, 2))


def _matrices(here: Communicator, size: int, dtype: str) -> tuple[Any, ...]:
    first, last = _bounds(here, size)
    return tuple(_rows(here, first, last, size, dtype, seed) for seed in (1, 2))


def _rows(here: Communicator, first: int, last: int, width: int, dtype: str, seed: int = 1) -> Any:
    return _numbers(here, first * width, last * width, dtype, seed).reshape(last - first, width)


def _picture(here: Communicator, size: int, dtype: str) -> tuple[Any, ...]:
    width = _width(here)
    first, last = _bounds(here, max(1, size // width))
    mask = (np.arange(_MASK * _MASK).reshape(_MASK, _MASK) % 7 - 2).astype(dtype)
    return _rows(here, first, last, width, dtype), here.module.asarray(mask)


def _width(here: Communicator) -> int:
    return _WIDTH[here.module is np]


# ---------------------------------------------------------------------------------------- verdicts
def _total(here: Communicator, value: Any) -> float:
    return float(all_gather(here, here.module.asarray(value, dtype=np.float64)).sum())


def _near(found: Any, expected: float, dtype: Any) -> bool:
    return abs(float(found) - expected) <= 1e4 * float(np.finfo(dtype).eps) * max(1.0, abs(expected))


def _right_sum(here: Communicator, found: Any, x: Any) -> bool:
    return _near(found, _total(here, x.sum(dtype=np.float64)), x.dtype)


def _right_dot(here: Communicator, found: Any, x: Any, y: Any) -> bool:
    expected = sum(
        float((x[at : at + _AT_ONCE].astype(np.float64) * y[at : at + _AT_ONCE]).sum())
        for at in range(0, len(x), _AT_ONCE)
    )
    return _near(found, _total(here, expected), x.dtype)


def _right_cumsum(here: Communicator, found: Any, x: Any) -> bool:
    totals = all_gather(here, here.module.asarray(x.sum(dtype=np.float64)))
    last = float(totals[: here.rank + 1].sum())
    slack = 1e4 * float(np.finfo(x.dtype).eps) * max(1.0, last)
    steps = bool((found[1:] - found[:-1] >= -slack).all())  # all elements are positive
    return steps and (not len(x) or _near(found[-1], last, x.dtype))


def _right_sort(here: Communicator, found: Any, x: Any) -> bool:
    """In order within and between parts, and as many, with the same sum of bits."""
    bits = f"u{x.dtype.itemsize}"
    ordered = bool((found[1:] >= found[:-1]).all())
    ends = [float(found[0]), float(found[-1])] if len(found) else [np.nan, np.nan]
    all_ends = all_gather(here, here.module.asarray(np.array(ends))).tolist()
    known = [end for pair in all_ends for end in pair if end == end]
    sums = [np.uint64(int(one.view(bits).sum(dtype=np.uint64))) for one in (found, x)]
    rows = gather_numbers(here, len(found), len(x), *(int(one.view(np.int64)) for one in sums))
    before, after = rows[:, 2].sum(), rows[:, 3].sum()
    return ordered and known == sorted(known) and rows[:, 0].sum() == rows[:, 1].sum() and before == after


def _right_matmul(here: Communicator, found: Any, a: Any, b: Any) -> bool:
    """Freivalds: the products with a vector agree."""
    module = here.module
    vector = module.asarray(np.random.default_rng(0).integers(-1, 2, b.shape[1]).astype(np.float64))
    counts = gather_numbers(here, len(b))[:, 0].tolist()
    inner = gather_rows(here, b.astype(np.float64) @ vector, counts)
    error = abs(found.astype(np.float64) @ vector - a.astype(np.float64) @ inner)
    bound = 8 * a.shape[1] ** 1.5 * float(np.finfo(a.dtype).eps)
    return not len(a) or bool(error.max() <= bound * b.shape[1])


def _right_picture(here: Communicator, found: Any, x: Any, mask: Any) -> bool:
    """The rows at both ends of the share, computed of rows made anew, those of other ranks included."""
    heights = gather_numbers(here, len(x))[:, 0]
    total, first = int(heights.sum()), int(heights[: here.rank].sum())
    last = first + len(x)
    reach = _MASK // 2
    for begin, end in ((first, min(last, first + _BAND)), (max(first, last - _BAND), last)):
        if begin == end:
            continue
        low, high = max(0, begin - reach), min(total, end + reach)
        rows = _rows(here, low, high, x.shape[1], str(x.dtype)).astype(np.float64)
        framed = here.module.zeros((end - begin + 2 * reach, x.shape[1] + 2 * reach))
        place = low - (begin - reach)
        framed[place : place + len(rows), reach : reach + x.shape[1]] = rows
        expected = here.module.zeros((end - begin, x.shape[1]))
        for i in range(_MASK):
            for k in range(_MASK):
                part = framed[_MASK - 1 - i :, _MASK - 1 - k :][: end - begin, : x.shape[1]]
                expected += float(mask[i, k]) * part
        error = abs(found[begin - first : end - first] - expected).max()
        if not float(error) <= 1e3 * float(np.finfo(x.dtype).eps):
            return False
    return True


BENCHES = {
    "reduction": _Work(1 << 16, 1 << 32, _vector, operations.sum, _right_sum),
    "dot": _Work(1 << 16, 1 << 32, _vectors, operations.dot, _right_dot),
    "scan": _Work(1 << 16, 1 << 32, _vector, operations.cumsum, _right_cumsum),
    "sort": _Work(1 << 12, 1 << 32, _vector, operations.sort, _right_sort),
    "matmul": _Work(128, 1 << 14, _matrices, operations.matmul, _right_matmul),
    "conv2d": _Work(1 << 16, 1 << 32, _picture, operations.convolve2d, _right_picture),
}
