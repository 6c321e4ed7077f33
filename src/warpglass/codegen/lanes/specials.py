"""What special registers hold, as LLVM values: isa/specials.py says which and why."""

from __future__ import annotations

from collections.abc import Callable

from ..builder import Builder
from ..control.clock import read_clock
from ..shape import BlockShape
from ..values.specials import MULTIPROCESSORS, constant_special

_SHARED_UNIT = 128


def scalar_special(b: Builder, shape: BlockShape, name: str) -> str:
    """The value of a special register that is the same for all lanes of a warp, of its type."""
    known = constant_special(shape, name)
    if known is not None:
        return str(known)
    register, _, axis = name.partition(".")
    return _READERS[register](b, shape, axis)


def _multiprocessor(b: Builder, shape: BlockShape, axis: str) -> str:
    row = b.value(f"add i32 {b.value('mul i32 %ctaid_z, %nctaid_y')}, %ctaid_y")
    block = b.value(f"add i32 {b.value(f'mul i32 {row}, %nctaid_x')}, %ctaid_x")
    return b.value(f"urem i32 {block}, {MULTIPROCESSORS}")


def _divided(b: Builder, operation: str, number: str, shape: BlockShape, axis: str) -> str:
    """A number of blocks divided by a cluster's extent; "udiv" or "urem"."""
    return b.value(f"{operation} i32 {number}, {shape.cluster['xyz'.index(axis)]}")


def cluster_rank(b: Builder, shape: BlockShape) -> str:
    """The block's place in its cluster."""
    rank = "0"
    for axis, extent in zip("zyx", reversed(shape.cluster), strict=True):
        within = _divided(b, "urem", f"%ctaid_{axis}", shape, axis)
        rank = b.value(f"add i32 {b.value(f'mul i32 {rank}, {extent}')}, {within}")
    return rank


def _dynamic_shared(b: Builder, shape: BlockShape, axis: str) -> str:
    return b.value(f"sub i32 {b.value('trunc i64 %shared_size to i32')}, {shape.static_shared}")


def _all_shared(b: Builder, shape: BlockShape, axis: str) -> str:
    end = b.value(f"add i64 %shared_size, {_SHARED_UNIT - 1}")
    return b.value(f"trunc i64 {b.value(f'and i64 {end}, {-_SHARED_UNIT}')} to i32")


def _clock(b: Builder, shape: BlockShape, axis: str) -> str:
    return b.value(f"trunc i64 {read_clock(b)} to i32")


def _clock_high(b: Builder, shape: BlockShape, axis: str) -> str:
    return b.value(f"trunc i64 {b.value(f'lshr i64 {read_clock(b)}, 32')} to i32")


_READERS: dict[str, Callable[[Builder, BlockShape, str], str]] = {
    "warpid": lambda b, shape, axis: "%warp",
    "ctaid": lambda b, shape, axis: f"%ctaid_{axis}",
    "nctaid": lambda b, shape, axis: f"%nctaid_{axis}",
    "clusterid": lambda b, shape, axis: _divided(b, "udiv", f"%ctaid_{axis}", shape, axis),
    "nclusterid": lambda b, shape, axis: _divided(b, "udiv", f"%nctaid_{axis}", shape, axis),
    "cluster_ctaid": lambda b, shape, axis: _divided(b, "urem", f"%ctaid_{axis}", shape, axis),
    "cluster_ctarank": lambda b, shape, axis: cluster_rank(b, shape),
    "smid": _multiprocessor,
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
