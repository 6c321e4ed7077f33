"""Blelloch: a tree of sums upwards, then the sums of what is left of each node downwards: 2n additions, not
n log n.

Going up, pairs are added, then pairs of pairs, half as many threads each time. Going down, every node learns
the sum of everything before it. What results is the exclusive scan; adding the element itself makes it
inclusive. A block has two elements for each thread.

Look at the bank conflicts: the strides are powers of two, so at stride 16 and more all lanes meet in one
bank. Look at the divergence too: in most steps few threads of a block have work.
"""

from typing import Any

from warpglass.ladders.rung import Claim, Rung, RungKernel, cuda
from warpglass.ladders.scan.propagate import ADD_OFFSETS, Blocks


def blelloch(x: Any, y: Any, totals: Any, n: Any) -> None:
    """Scan two elements a thread."""
    s = cuda.shared.array(0, x.dtype)
    t = cuda.threadIdx.x
    half = cuda.blockDim.x
    first = cuda.blockIdx.x * 2 * half + t
    second = first + half
    a = x.dtype.type(0)
    b = x.dtype.type(0)
    if first < n:
        a = x[first]
    if second < n:
        b = x[second]
    s[t] = a
    s[t + half] = b
    stride = 1
    pairs = half
    while pairs > 0:
        cuda.syncthreads()
        if t < pairs:
            s[(2 * t + 2) * stride - 1] += s[(2 * t + 1) * stride - 1]
        stride *= 2
        pairs //= 2
    cuda.syncthreads()
    if t == 0:
        totals[cuda.blockIdx.x] = s[2 * half - 1]
        s[2 * half - 1] = 0
    pairs = 1
    while pairs <= half:
        stride //= 2
        cuda.syncthreads()
        if t < pairs:
            left = (2 * t + 1) * stride - 1
            right = left + stride
            before = s[right]
            s[right] = before + s[left]
            s[left] = before
        pairs *= 2
    cuda.syncthreads()
    if first < n:
        y[first] = s[t] + a
    if second < n:
        y[second] = s[t + half] + b


def additions(block: int) -> int:
    """Upwards, downwards, and the element itself."""
    return 2 * block.bit_length() + 1


BLOCKS = Blocks(per_thread=2, shared=lambda block, itemsize: 2 * block * itemsize, additions=additions)

RUNG = Rung(
    follows="hillis_steele",
    kernels=(RungKernel(), ADD_OFFSETS),
    program=BLOCKS.scan,
    shape=BLOCKS.shape,
    depth=BLOCKS.depth,
    claims=(Claim("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", ">", "hillis_steele"),),
)
