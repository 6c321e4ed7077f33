"""One launch by cooperative groups: a barrier for the whole grid, then one block adds the blocks' sums.

A grid that is launched cooperatively is under way as a whole, so all its threads can wait for each other:
`grid.sync()`. After it the blocks' sums lie in memory, and the first block adds them as it added its own
elements. The order of the additions is fixed, so two runs agree to the last bit: atomics do not promise that.
The price is a limit: the grid must fit on the GPU all at once, and every block waits for the slowest.

So the grid is small, 2^16 threads, and each of them must have more under way: eight loads before it adds.
With one load at a time 2^24 doubles took 114 us on an H200, with eight 50; two launches of `vector_loads`
take 48.
"""

from typing import Any

from warpglass.ladders.reduction.rung import reduction_rung
from warpglass.ladders.rung import cuda


def grid_sync(x: Any, partial: Any, n: Any) -> None:
    """Leave a sum per block in `partial`; then the first block adds them up."""
    sums = cuda.shared.array(1024, x.dtype)
    tid = cuda.threadIdx.x
    grid = cuda.cg.this_grid()
    source = x
    count = n
    first = cuda.blockIdx.x * cuda.blockDim.x
    step = cuda.gridDim.x * cuda.blockDim.x
    for level in range(2):
        total = x.dtype.type(0)
        i = first + tid
        while i + 7 * step < count:
            # Eight loads are under way before the first is added.
            low = (source[i] + source[i + step]) + (source[i + 2 * step] + source[i + 3 * step])
            i += 4 * step
            total += low + ((source[i] + source[i + step]) + (source[i + 2 * step] + source[i + 3 * step]))
            i += 4 * step
        while i < count:
            total += source[i]
            i += step
        sums[tid] = total
        cuda.syncthreads()
        stride = cuda.blockDim.x // 2
        while stride > 0:
            if tid < stride:
                sums[tid] += sums[tid + stride]
            cuda.syncthreads()
            stride >>= 1
        if level == 0:
            if tid == 0:
                partial[cuda.blockIdx.x] = sums[0]
            grid.sync()
            if cuda.blockIdx.x > 0:
                return
            source = partial
            count = cuda.gridDim.x
            step = cuda.blockDim.x
    if tid == 0:
        partial[0] = sums[0]


RUNG = reduction_rung(
    follows="block_atomics",
    table="beyond",
    most_threads=2**16,
    one_result=True,
)
