"""A tile in shared memory turns around: loads and stores of global memory are both in order.

The block reads a tile of 32 x 32 elements by rows, and after a barrier stores it by rows of b, which are
columns of the tile. Only shared memory sees the stride now.

Look there: a column of the tile lies in one bank, since its words are 32 apart. The 32 lanes of a warp that
read it are served one after the other: 31 wavefronts too many for each load.
"""

from typing import Any

from warpglass.ladders.rung import Claim, KernelFunction, Rung, RungKernel, cuda


def specialise(padding: int) -> KernelFunction:
    """Return the kernel for tiles whose rows are so many elements longer than 32."""
    width = 32 + padding

    def tile(a: Any, b: Any, rows: Any, columns: Any) -> None:
        """Move four elements by way of a tile."""
        held = cuda.shared.array((32, width), a.dtype)
        x = cuda.threadIdx.x
        y = cuda.threadIdx.y
        left = cuda.blockIdx.x * 32
        top = cuda.blockIdx.y * 32
        for step in range(0, 32, 8):
            down = y + step
            if top + down < rows and left + x < columns:
                held[down, x] = a[top + down, left + x]
        cuda.syncthreads()
        for step in range(0, 32, 8):
            down = y + step
            if left + down < columns and top + x < rows:
                b[left + down, top + x] = held[x, down]

    return tile


def kernel(padding: int) -> RungKernel:
    """The kernel for a padding, in both languages."""
    return RungKernel(
        name="tile",
        cuda=f"tile<{{type}}, {padding}>",
        specialise=lambda case, block: specialise(padding),
        constants=str(padding),
    )


RUNG = Rung(
    follows="naive",
    kernels=(kernel(0),),
    claims=(
        Claim("gst_transactions", "<", "naive"),
        Claim("shared_ld_bank_conflict", ">", 0.0),
    ),
)
