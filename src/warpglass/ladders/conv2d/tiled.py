"""A block larger than its output: every thread loads one element, and those inside compute one.

To compute 16 x 16 elements a block needs (16 + 2 r)^2, its tile with a halo around it. The block has as many
threads as that, 20 x 20. Each loads one element, a 0 for a ghost, and after a barrier the first 16 x 16
threads compute from shared memory. The mask stays in global memory, a word for a whole warp at a time. The
grid is counted in tiles, not in blocks.

Away from the borders a block reads (16 + 4)^2 = 400 elements instead of 25 * 256 = 6400: 16 times fewer, as
the notes' ratio (2 r + 1)^2 T^2 / (T + 2 r)^2 says. It tends to 25 for large tiles; what bounds them is 1024
threads a block, that is tiles of 28 x 28.

Look at divergence: 144 of 400 threads have nothing to compute, and as a row of 20 threads is no whole warp,
most warps have such lanes.

On an H200 the C++ tiles are no faster than basic: its L1 holds the neighbourhood of a block, so what tiles
save is requests, and idle threads and the barrier cost as much. In Python, whose index arithmetic per load is
longer, tiles win.
"""

from typing import Any

from warpglass.ladders.conv2d.problem import RADIUS, blocks_over
from warpglass.ladders.problem import Case
from warpglass.ladders.rung import Claim, KernelFunction, LaunchShape, Rung, RungKernel, cuda


def specialise(tile: int) -> KernelFunction:
    """Return the kernel for one tile, whose side it holds as a compile-time constant."""
    side = tile + 2 * RADIUS

    def tiled(p: Any, n: Any, rows: Any, columns: Any, mask: Any) -> None:
        """Load one element, and compute one if inside."""
        held = cuda.shared.array((side, side), n.dtype)
        x = cuda.threadIdx.x
        y = cuda.threadIdx.y
        i = cuda.blockIdx.y * tile + y
        j = cuda.blockIdx.x * tile + x
        row = i - 2
        column = j - 2
        if row >= 0 and row < rows and column >= 0 and column < columns:
            held[y, x] = n[row, column]
        else:
            held[y, x] = 0
        cuda.syncthreads()
        if y < tile and x < tile and i < rows and j < columns:
            total = n.dtype.type(0)
            for u in range(5):
                for v in range(5):
                    total += held[y + u, x + v] * mask[u, v]
            p[i, j] = total

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
    """Blocks of 20 x 20 threads for 16 x 16 elements each."""
    return blocks_over(case, 16, 16 + 2 * RADIUS)


RUNG = Rung(
    follows="basic",
    kernels=(kernel(16),),
    shape=shape,
    claims=(
        Claim("global_load_requests", "<", "basic"),
        Claim("gld_transactions", "<", "basic"),
    ),
)
