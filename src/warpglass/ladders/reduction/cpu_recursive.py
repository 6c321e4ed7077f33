"""The baseline on the CPU: fold the upper half of the array onto the lower half until one element is left.

This is the tree of all later rungs without threads. Each level is one NumPy addition of two halves, so it
is a fair CPU program and no interpreter loop. At an odd size the middle element has no partner: it stays
where it is and the lower half is one element longer.

Look at the memory traffic: the array is read and written in log2(n) passes, each half the length of the one
before, and only the last passes fit into a cache.
"""

from warpglass.ladders.reduction.problem import Array, Number
from warpglass.ladders.reduction.rung import host_rung


def cpu_recursive(x: Array) -> Number:
    """Return the sum of x; x is overwritten."""
    size = x.size
    if size == 0:
        return x.dtype.type(0).item()
    while size > 1:
        half = (size + 1) // 2
        x[: size - half] += x[half:size]
        size = half
    return x[0].item()


RUNG = host_rung(cpu_recursive)
