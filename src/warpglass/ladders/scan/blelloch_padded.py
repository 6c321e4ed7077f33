"""The same tree with one word left out after every 32, so that a stride of 32 words moves on by one bank.

Element i lies at i + i / 32. Strides of 2, 4, ... words no longer lead back to the same bank until they are
far longer than a block.

Look at the bank conflicts, which are gone for 4-byte elements, and at the instructions that the padded index
costs.
"""

from typing import Any

from warpglass.ladders.rung import Claim, Rung, RungKernel, cuda
from warpglass.ladders.scan.blelloch import additions
from warpglass.ladders.scan.propagate import ADD_OFFSETS, Blocks


def blelloch_padded(x: Any, y: Any, totals: Any, n: Any) -> None:
    """Scan two elements a thread; element i of the block lies at i + i / 32."""
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
    s[t + (t >> 5)] = a
    s[t + half + ((t + half) >> 5)] = b
    last = 2 * half - 1
    last += last >> 5
    stride = 1
    pairs = half
    while pairs > 0:
        cuda.syncthreads()
        if t < pairs:
            left = (2 * t + 1) * stride - 1
            right = left + stride
            s[right + (right >> 5)] += s[left + (left >> 5)]
        stride *= 2
        pairs //= 2
    cuda.syncthreads()
    if t == 0:
        totals[cuda.blockIdx.x] = s[last]
        s[last] = 0
    pairs = 1
    while pairs <= half:
        stride //= 2
        cuda.syncthreads()
        if t < pairs:
            left = (2 * t + 1) * stride - 1
            right = left + stride
            left += left >> 5
            right += right >> 5
            before = s[right]
            s[right] = before + s[left]
            s[left] = before
        pairs *= 2
    cuda.syncthreads()
    if first < n:
        y[first] = s[t + (t >> 5)] + a
    if second < n:
        y[second] = s[t + half + ((t + half) >> 5)] + b


BLOCKS = Blocks(
    per_thread=2, shared=lambda block, itemsize: (2 * block + block // 16) * itemsize, additions=additions
)

RUNG = Rung(
    follows="blelloch",
    kernels=(RungKernel(), ADD_OFFSETS),
    program=BLOCKS.scan,
    shape=BLOCKS.shape,
    depth=BLOCKS.depth,
    claims=(Claim("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", "==", 0.0),),
)
