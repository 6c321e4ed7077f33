"""What is known of special registers when code is generated: isa/specials.py says what they hold."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from ...isa.specials import SPECIALS
from ..builder import WIDTH
from ..context import GRID_WORKSPACE
from ..shape import BlockShape, Promises
from .affine import lane_form, line_through, wrapped
from .value import Value, constant, no_offsets

MULTIPROCESSORS = 132

# The same in every warp: the bit patterns of the 32 lanes.
LANE_TABLES: dict[str, tuple[int, ...]] = {
    "laneid": tuple(range(32)),
    "lanemask_eq": tuple(1 << lane for lane in range(32)),
    "lanemask_lt": tuple((1 << lane) - 1 for lane in range(32)),
    "lanemask_le": tuple((2 << lane) - 1 for lane in range(32)),
    "lanemask_gt": tuple(-(2 << lane) & 0xFFFFFFFF for lane in range(32)),
    "lanemask_ge": tuple(-(1 << lane) & 0xFFFFFFFF for lane in range(32)),
}

_CONSTANTS: dict[str, Callable[[BlockShape, str], int]] = {
    "ntid": lambda shape, axis: shape.extent(axis),
    "nwarpid": lambda shape, axis: shape.warps,
    "cluster_nctaid": lambda shape, axis: _ranks(shape, axis),
    "cluster_nctarank": lambda shape, axis: _ranks(shape, axis),
    "is_explicit_cluster": lambda shape, axis: int(shape.explicit),
    "nsmid": lambda shape, axis: MULTIPROCESSORS,
    "gridid": lambda shape, axis: 1,
    "envreg1": lambda shape, axis: GRID_WORKSPACE >> 32,
    "envreg2": lambda shape, axis: GRID_WORKSPACE & 0xFFFFFFFF,
}
# Those that are read at run time, the same for all lanes of a warp.
READ = frozenset(
    "warpid ctaid nctaid clusterid nclusterid cluster_ctaid cluster_ctarank smid dynamic_smem_size "
    "total_smem_size aggr_smem_size clock clock_hi clock64 globaltimer globaltimer_lo globaltimer_hi".split()
)


def constant_special(shape: BlockShape, name: str) -> int | None:
    """A special register whose value the block's shape decides; None for those read at run time."""
    register, _, axis = name.partition(".")
    if axis == "w" or not (register in _CONSTANTS or register in READ):
        return 0
    if register.startswith("cluster_cta"):  # of a cluster that has one block there
        return 0 if _ranks(shape, axis) == 1 else None
    return _CONSTANTS[register](shape, axis) if register in _CONSTANTS else None


def _ranks(shape: BlockShape, axis: str) -> int:
    """The blocks of a cluster along an axis, all of them without one."""
    return shape.cluster["xyz".index(axis)] if axis else prod(shape.cluster)


class Specials:
    """The facts of special registers for one block shape and what the launches promise."""

    def __init__(self, shape: BlockShape, promises: Promises):
        self._shape = shape
        self._promises = promises
        table = shape.thread_table().astype(int)
        self._tids: dict[str, Value] = {}
        for axis, row in zip("xyz", table, strict=True):
            offsets, low, high = lane_form(row, shape.width)
            line = None if offsets is None else line_through(row[:: shape.width].tolist())
            self._tids[axis] = Value("i32", "", offsets, None, low, high, line=line)

    def facts(self, name: str) -> Value:
        """A fresh value without its name."""
        register, _, axis = name.partition(".")
        width = self._shape.width
        if register == "tid" and axis != "w":
            tid = self._tids[axis]
            if tid.low is not None and tid.low == tid.high:
                return constant("i32", tid.low, width)
            return Value("i32", "", tid.offsets, None, tid.low, tid.high, line=tid.line)
        if register == "laneid":
            return Value("i32", "", tuple(range(WIDTH)), None, 0, WIDTH - 1, line=(0, 0))
        if register in LANE_TABLES:
            return lane_pattern("i32", LANE_TABLES[register])
        type_, known = SPECIALS[name], constant_special(self._shape, name)
        low, high = (known, known) if known is not None else self._bounds(register, axis)
        if low is not None and low == high:
            return constant(type_, low, width)
        together = name == "ctaid.x" and self._shape.blocks > 1
        offsets = (
            tuple([lane // self._shape.block[0] for lane in range(width)]) if together else no_offsets(width)
        )
        return Value(type_, "", offsets, None, low, high)

    def _bounds(self, register: str, axis: str) -> tuple[int | None, int | None]:
        if register == "warpid":
            return 0, self._shape.warps - 1
        if register.startswith("cluster_cta"):
            return 0, _ranks(self._shape, axis) - 1
        if register not in ("ctaid", "nctaid"):
            return None, None
        bound = self._promises.grid["xyz".index(axis)]
        if register == "ctaid":
            return 0, bound - 1
        return bound if self._promises.exact else 1, min(bound, (1 << 31) - 1)


def lane_pattern(type_: str, patterns: tuple[int, ...]) -> Value:
    """Integers that are the same in every warp, one for each lane, as offsets from zero."""
    offsets = wrapped(patterns, int(type_[1:]))
    return Value(type_, "", offsets, None, min(offsets), max(offsets), line=(0, 0))
