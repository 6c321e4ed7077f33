"""What the last rungs launch, for matrices of any shape: C of m x n from A of m x k and B of k x n.

Belongs here: plans (ladders/plan.py) over arrays a, b and c, each stored row after row, without gaps. Why the
kernels are as they are stands with the rungs. Parameters that have a default are tuned (ladders/tuned.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ..plan import Plan, Scratch, Step
from ..problem import C_NAMES

_HERE = Path(__file__).parent

Factors = Literal["Tf32", "Bf16", "F16"]  # as in packed.cuh


@dataclass(frozen=True, slots=True)
class Tile:
    """Rows and columns of C that a block computes, and of them a warp; steps along k, and their stages."""

    rows: int
    columns: int
    along: int
    warp_rows: int
    warp_columns: int
    stages: int
    resident: int  # blocks that a multiprocessor holds

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return self.rows // self.warp_rows * (self.columns // self.warp_columns) * 32

    def count(self, m: int, n: int) -> int:
        """Tiles of a matrix."""
        return -(-m // self.rows) * -(-n // self.columns)


# ------------------------------------------------------------------------------------- ordinary arithmetic
FEWEST = 8  # steps that are worth a block
TILES = {4: Tile(64, 128, 16, 32, 64, 3, 4), 8: Tile(64, 128, 8, 32, 64, 3, 2)}  # by the bytes of an element
FP64_WARPS = Tile(64, 64, 16, 32, 32, 3, 2)
_FP64_APART = 4  # doubles between rows of its tiles


def product(
    m: int, n: int, k: int, dtype: np.dtype[Any], *, multiprocessors: int = 0, tile: Tile | None = None
) -> Plan:
    """C = A B in the arithmetic of the element type, float32, float64, int32 or int64.

    With `multiprocessors` the tiles that would keep some of them busy and leave others idle are split along
    k, and their parts are added in order by a second launch. `tile` is another than a GPU's best.
    """
    tile = tile or TILES[dtype.itemsize]
    return _in_parts("pipelined", (C_NAMES[dtype.name],), dtype, tile, 0, (m, n, k), multiprocessors)


def fp64_tensor_product(m: int, n: int, k: int, *, multiprocessors: int = 0) -> Plan:
    """C = A B of float64 by tensor cores, for compute capability 9.0 and above; splits as `product`."""
    tile = FP64_WARPS
    stage = tile.rows * (tile.along + _FP64_APART) + tile.along * (tile.columns + _FP64_APART)
    dtype = np.dtype(np.float64)
    shared = tile.stages * stage * dtype.itemsize
    return _in_parts("fp64_tensor_cores", (), dtype, tile, shared, (m, n, k), multiprocessors)


def _in_parts(
    kernel: str,
    types: tuple[str, ...],
    dtype: np.dtype[Any],
    tile: Tile,
    shared: int,
    sizes: tuple[int, int, int],
    multiprocessors: int,
) -> Plan:
    """A launch of a kernel whose tiles may be split, and of sum_parts if some are."""
    m, n, k = sizes
    tiles, rest, splits = divide(tile, m, n, -(-k // tile.along), multiprocessors)
    area, file = tile.rows * tile.columns, _HERE / f"{kernel}.cu"
    shape = (
        tile.rows,
        tile.columns,
        tile.along,
        tile.warp_rows,
        tile.warp_columns,
        tile.stages,
        tile.resident,
    )
    of_c, parts = (np.uint32(m), np.uint32(n)), (np.uint32(tiles - rest), np.uint32(splits))
    multiply = Step(
        f"{kernel}<{', '.join((*types, *map(str, shape)))}>",
        file,
        grid=max(1, tiles - rest + rest * splits),
        block=tile.threads,
        shared=shared,
        arguments=("a", "b", "c", "partial", *of_c, np.uint32(k), *parts),
    )
    add = Step(
        f"sum_parts<{C_NAMES[dtype.name]}, {tile.rows}, {tile.columns}>",
        file,
        grid=(area // 256, rest),
        block=256,
        shared=0,
        arguments=("partial", "c", *of_c, *parts),
    )
    scratch = Scratch("partial", dtype, max(1, rest * splits * area))
    return Plan((multiply, add) if rest else (multiply,), (scratch,))


def divide(tile: Tile, m: int, n: int, steps: int, multiprocessors: int) -> tuple[int, int, int]:
    """The tiles of C, how many of them, the last ones, are split, and into how many parts.

    Those are split that are left when all multiprocessors have had equally many, or all if there are not
    enough to fill them once; into as many parts as then fill them once, if that helps.
    """
    tiles, places = tile.count(m, n), tile.resident * multiprocessors
    if not tiles or not multiprocessors:
        return tiles, 0, 1
    rest = tiles if tiles < places else tiles % multiprocessors
    splits = min(places // rest, steps // FEWEST) if rest else 1
    helps = tiles < places or -(-rest * splits // multiprocessors) < splits
    return (tiles, rest, splits) if splits > 1 and helps else (tiles, 0, 1)


# -------------------------------------------------------------------------------------------- tensor cores
_UNIT_ROWS, _UNIT_BYTES, _STEP_BYTES = 64, 8192, 128  # of packed matrices (packed.cuh)
STORED = {"Tf32": np.dtype(np.float32), "Bf16": np.dtype(np.uint16), "F16": np.dtype(np.uint16)}
_ELEMENTS = {"Tf32": "float", "Bf16": "unsigned short", "F16": "unsigned short"}

WARPS = Tile(128, 128, _STEP_BYTES, 64, 64, 3, 2)
WARP_GROUPS = Tile(256, 256, _STEP_BYTES, 64, 256, 4, 1)  # two blocks; a warp group has 64 x 256


def tensor_product(
    m: int, n: int, k: int, factors: Factors, *, warp_groups: bool = False, halves: bool = False
) -> Plan:
    """C = A B by tensor cores, for A and B of float32 (Tf32) or of 16-bit words (Bf16, F16).

    A and B are packed first, and rounded to TF32; so any size and alignment will do. Sums are of float32, and
    so is C, or it has `halves`, rounded from them. `warp_groups` is for compute capability 9.0 only.
    """
    tile = WARP_GROUPS if warp_groups else WARPS
    stored, sums = STORED[factors], "unsigned short" if halves else "float"
    steps = max(1, -(-k * stored.itemsize // _STEP_BYTES))
    rows, columns = (max(1, -(-size // side)) * side for size, side in ((m, tile.rows), (n, tile.columns)))
    sizes = (np.uint32(m), np.uint32(n), np.uint32(steps))
    if warp_groups:
        multiply = Step(
            f"warp_groups<{factors}, {sums}, {tile.stages}>",
            _HERE / "warp_groups.cu",
            grid=2 * max(1, tile.count(m, n)),
            block=(tile.rows // tile.warp_rows * 128) // 2 + 32,
            shared=(tile.rows // 2 + tile.columns) * _STEP_BYTES * tile.stages + 1024,
            arguments=("a_packed", "b_packed", "c", *sizes),
            target="sm_90a",
        )
    else:
        shape = (tile.rows, tile.columns, tile.warp_rows, tile.warp_columns, tile.stages, tile.resident)
        multiply = Step(
            f"tensor_cores<{factors}, {sums}, {', '.join(map(str, shape))}>",
            _HERE / "tensor_cores.cu",
            grid=max(1, tile.count(m, n)),
            block=tile.threads,
            shared=(tile.rows + tile.columns) * _STEP_BYTES * tile.stages,
            arguments=("a_packed", "b_packed", "c", *sizes),
        )
    units = [size // _UNIT_ROWS * steps for size in (rows, columns)]
    pack = Step(
        f"packed<{_ELEMENTS[factors]}>",
        _HERE / "packed.cu",
        grid=sum(units),
        block=256,
        shared=0,
        arguments=("a", "b", "a_packed", "b_packed", *map(np.uint32, (m, n, k, steps, units[0]))),
    )
    scratch = (
        Scratch(name, np.dtype(np.uint32), count * _UNIT_BYTES // 4)
        for name, count in zip(("a_packed", "b_packed"), units, strict=True)
    )
    return Plan((pack, multiply), tuple(scratch))
