"""Tiles of 16 x 16 in shared memory: an element that 16 threads need is read from global memory once.

The block works in phases. In each, every thread brings one element of a tile of A and one of a tile of B into
shared memory; after a barrier the block multiplies the tiles, and after another one it may overwrite them.
Elements beyond the matrices are taken as 0, so no row, no column and no end of a sum is left out.

A row of tiles reads all of B and a column of tiles all of A, each once: 2 n^3 / 16 elements instead of 2 n^3.
The notes say that 16 x 16 tiles leave 1/6 of the accesses; right is 1/16 (counts.py, which a test holds to
the counters).

Look at shared memory: it takes over the loads, two for every multiplication, without bank conflicts, since
lanes of a row read one word of A's tile (a broadcast) and neighbouring words of B's.
"""

from typing import Any

from warpglass.ladders.matmul.problem import square_blocks
from warpglass.ladders.problem import Case
from warpglass.ladders.rung import Claim, KernelFunction, LaunchShape, Rung, RungKernel, cuda


def specialise(tile: int) -> KernelFunction:
    """Return the kernel for one tile, whose side it holds as a compile-time constant."""

    def tiled(a: Any, b: Any, c: Any, n: Any) -> None:
        """Compute one element of c = a b, tile by tile."""
        a_tile = cuda.shared.array((tile, tile), a.dtype)
        b_tile = cuda.shared.array((tile, tile), b.dtype)
        x = cuda.threadIdx.x
        y = cuda.threadIdx.y
        row = cuda.blockIdx.y * tile + y
        column = cuda.blockIdx.x * tile + x
        total = a.dtype.type(0)
        for start in range(0, n, tile):
            a_tile[y, x] = a[row, start + x] if row < n and start + x < n else a.dtype.type(0)
            b_tile[y, x] = b[start + y, column] if start + y < n and column < n else b.dtype.type(0)
            cuda.syncthreads()
            for k in range(tile):
                total += a_tile[y, k] * b_tile[k, x]
            cuda.syncthreads()
        if row < n and column < n:
            c[row, column] = total

    return tiled


def kernel(tile: int) -> RungKernel:
    """The kernel for one tile, in both languages."""
    return RungKernel(
        name="tiled",
        cuda=f"tiled<{{type}}, {tile}>",
        specialise=lambda case, block: specialise(tile),
        constants=str(tile),
    )


def shape(case: Case, block: int) -> LaunchShape:
    """A thread for every element, in blocks as large as a tile."""
    return square_blocks(case, 16)


RUNG = Rung(
    table="matmul",
    follows="naive",
    kernels=(kernel(16),),
    shape=shape,
    claims=(
        Claim("global_load_requests", "<", "naive"),
        Claim("shared_bank_conflicts", "==", 0.0),
    ),
)
