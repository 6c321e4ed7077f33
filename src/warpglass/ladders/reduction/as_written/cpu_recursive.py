"""cpu_recursive as the course notes have it, for arrays whose size is a power of two.

The array is cut into two halves of size // 2. At an odd size that leaves one element over, which is
dropped.
"""

from warpglass.ladders.reduction.problem import Array, Number
from warpglass.ladders.reduction.rung import host_rung


def cpu_recursive(x: Array) -> Number:
    """Return the sum of x if its size is a power of two; x is overwritten."""
    size = x.size
    while size > 1:
        size //= 2
        x[:size] += x[size : 2 * size]
    return x[0].item() if x.size else x.dtype.type(0).item()


RUNG = host_rung(cpu_recursive, defect="an element is dropped at every odd size")
