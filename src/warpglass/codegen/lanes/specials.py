"""What special registers hold, as LLVM values: isa/specials.py says which and why."""

from __future__ import annotations

from collections.abc import Callable

from ..builder import Builder
from ..context import GRID_WORKSPACE
from ..control.clock import read_clock
from ..shape import BlockShape

MULTIPROCESSORS = 132
_SHARED_UNIT = 128

# The same in every warp: the bit patterns of the 32 lanes.
LANE_TABLES: dict[str, tuple[int, ...]] = {
    "laneid": tuple(range(32)),
    "lanemask_eq": tuple(1 << lane for lane in range(32)),
    "lanemask_lt": tuple((1 << lane) - 1 for lane in range(32)),
    "lanemask_le": tuple((2 << lane) - 1 for lane in range(32)),
    "lanemask_gt": tuple(-(2 << lane) & 0xFFFFFFFF for lane in range(32)),
    "lanemask_ge": tuple(-(1 << lane) & 0xFFFFFFFF for lane in range(32)),
}


def scalar_special(b: Builder, shape: BlockShape, name: str) -> str:
    """The value of a special register that is the same for all lanes of a warp, of its type."""
    register, _, axis = name.partition(".")
    make = _MAKERS.get(register)
    return "0" if axis == "w" or make is None else make(b, shape, axis)


def _multiprocessor(b: Builder, shape: BlockShape, axis: str) -> str:
    row = b.value(f"add i32 {b.value('mul i32 %ctaid_z, %nctaid_y')}, %ctaid_y")
    block = b.value(f"add i32 {b.value(f'mul i32 {row}, %nctaid_x')}, %ctaid_x")
    return b.value(f"urem i32 {block}, {MULTIPROCESSORS}")


def _dynamic_shared(b: Builder, shape: BlockShape, axis: str) -> str:
    return b.value(f"sub i32 {b.value('trunc i64 %shared_size to i32')}, {shape.static_shared}")


def _all_shared(b: Builder, shape: BlockShape, axis: str) -> str:
    end = b.value(f"add i64 %shared_size, {_SHARED_UNIT - 1}")
    return b.value(f"trunc i64 {b.value(f'and i64 {end}, {-_SHARED_UNIT}')} to i32")


def _clock(b: Builder, shape: BlockShape, axis: str) -> str:
    return b.value(f"trunc i64 {read_clock(b)} to i32")


def _clock_high(b: Builder, shape: BlockShape, axis: str) -> str:
    return b.value(f"trunc i64 {b.value(f'lshr i64 {read_clock(b)}, 32')} to i32")


_MAKERS: dict[str, Callable[[Builder, BlockShape, str], str]] = {
    "ntid": lambda b, shape, axis: str(shape.extent(axis)),
    "nwarpid": lambda b, shape, axis: str(shape.warps),
    "warpid": lambda b, shape, axis: "%warp",
    "ctaid": lambda b, shape, axis: f"%ctaid_{axis}",
    "nctaid": lambda b, shape, axis: f"%nctaid_{axis}",
    "clusterid": lambda b, shape, axis: f"%ctaid_{axis}",
    "nclusterid": lambda b, shape, axis: f"%nctaid_{axis}",
    "cluster_nctaid": lambda b, shape, axis: "1",
    "cluster_nctarank": lambda b, shape, axis: "1",
    "smid": _multiprocessor,
    "nsmid": lambda b, shape, axis: str(MULTIPROCESSORS),
    "gridid": lambda b, shape, axis: "1",
    "envreg1": lambda b, shape, axis: str(GRID_WORKSPACE >> 32),
    "envreg2": lambda b, shape, axis: str(GRID_WORKSPACE & 0xFFFFFFFF),
    "dynamic_smem_size": _dynamic_shared,
    "total_smem_size": _all_shared,
    "aggr_smem_size": _all_shared,
    "clock": _clock,
    "clock_hi": _clock_high,
    "clock64": lambda b, shape, axis: read_clock(b),
    "globaltimer": lambda b, shape, axis: read_clock(b),
    "globaltimer_lo": _clock,
    "globaltimer_hi": _clock_high,
}
